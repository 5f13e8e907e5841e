# Stands in for a coding agent: reads a brief, edits files, says what it did. It knows three steps.
brief=$(cat)
case $brief in
*"a test for a whole hour"*)
    tests=$(awk '/^check 0 / { print "check 3600 \"1 h\"" } { print }' tests/duration.sh)
    printf '%s\n' "$tests" >tests/duration.sh
    echo "A whole hour is tested, too."
    ;;
*"duration 0 gives"*)
    cat >src/duration.sh <<'END'
# Prints a number of seconds as people read it.
duration() {
    h=$(($1 / 3600)) m=$(($1 / 60 % 60)) s=$(($1 % 60))
    shown=
    [ "$h" = 0 ] || shown="$shown $h h"
    [ "$m" = 0 ] || shown="$shown $m min"
    [ "$s" = 0 ] && [ -n "$shown" ] || shown="$shown $s s"
    echo "${shown# }"
}
END
    echo "Parts that are 0 are left out."
    ;;
*)
    cat >src/duration.sh <<'END'
# Prints a number of seconds as people read it.
duration() {
    echo "$(($1 / 3600)) h $(($1 / 60 % 60)) min $(($1 % 60)) s"
}
END
    echo "Hours and minutes are shown."
    ;;
esac
