# `sh tests/duration.sh` says what differs, and fails if something does.
. ./src/duration.sh
failed=0
check() {
    if [ "$(duration "$1")" != "$2" ]; then
        echo "duration $1 gives '$(duration "$1")', not '$2'"
        failed=1
    fi
}
check 3725 "1 h 2 min 5 s"
check 0 "0 s"
exit "$failed"
