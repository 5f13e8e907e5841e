# Is total right? The case is named: cents, words or comma.
. ./src/total.sh
check() {
  [ "$2" = "$3" ] && return
  echo "$1: '$3', not '$2'"
  exit 1
}
case $1 in
  cents) check "1.50 and 2.25" 3.75 "$(printf '1.50\n2.25\n' | total)" ;;
  words) check "3 and x" "x is no number" "$(printf '3\nx\n' | total)" ;;
  comma) check "1,50 and 2.25" 3.75 "$(printf '1,50\n2.25\n' | total)" ;;
  *) echo "there is no case '$1'"; exit 2 ;;
esac
