# Copies this folder to a temporary one, makes it a git repository with one commit, and prints where it is.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
copy=$(mktemp -d "${TMPDIR:-/tmp}/research-paper.XXXXXX")
cp -R "$here/." "$copy"
cd "$copy"
git init -q
git add -A
git -c user.name=example -c user.email=example@localhost commit -q -m "An idea and a file of data"
echo "$copy"
