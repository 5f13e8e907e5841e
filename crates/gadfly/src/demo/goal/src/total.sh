# total: the sum of the numbers on standard input, one a line, with two decimals.
total() {
  awk '
    { sum += $1 }
    END { printf "%d\n", sum }
  '
}
