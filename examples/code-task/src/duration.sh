# Prints a number of seconds as people read it.
duration() {
    echo "$1 s"
}
