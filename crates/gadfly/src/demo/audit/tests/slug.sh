# `sh tests/slug.sh` says what differs, and fails if something does.
. ./src/slug.sh
failed=0
check() {
    if [ "$(slug "$1")" != "$2" ]; then
        echo "slug '$1' gives '$(slug "$1")', not '$2'"
        failed=1
    fi
}
check "Annual Report" "annual-report"
exit "$failed"
