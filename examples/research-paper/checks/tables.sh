# Every table of the paper is what the script prints from the data, byte for byte.
set -u
red=0
for table in main robustness; do
    if ! sh scripts/analysis.sh "$table" | diff - "paper/tables/$table.tex"; then
        echo "paper/tables/$table.tex is not what scripts/analysis.sh $table prints"
        red=1
    fi
done
exit $red
