# A title as a file name.
slug() {
    printf '%s\n' "$1"
}
