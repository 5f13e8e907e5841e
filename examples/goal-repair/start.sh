# Copies this folder to a temporary one, makes it a git repository with one commit, and prints where it is.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
copy=$(mktemp -d "${TMPDIR:-/tmp}/goal-repair.XXXXXX")
cp -R "$here/." "$copy"
cd "$copy"
git init -q
git add -A
git -c user.name=example -c user.email=example@localhost commit -q -m "Before the repair"
echo "$copy"
