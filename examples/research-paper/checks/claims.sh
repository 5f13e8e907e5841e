# Every decimal number of the text is in the claim map, and stands in the table that the map names.
set -u
map=$(echo quality_reports/claim_source_map_*.md)
problems=$(
    awk -F'|' '/^\| *[0-9]/ { print $2, $3, $5 }' "$map" | while read -r number section table; do
        grep -qF -e "$number" "$section" || echo "$number is not in $section, where $map has it"
        grep -qF -e "$number" "$table" || echo "$number is not in $table, where $map has it from"
    done
    for section in paper/main.tex paper/sections/*.tex; do
        for number in $(grep -o '[0-9][0-9]*\.[0-9][0-9]*' "$section" | sort -u); do
            awk -F'|' -v n="$number" -v s="$section" '
                { gsub(/ /, "", $2); gsub(/ /, "", $3) }
                $2 == n && $3 == s { found = 1 }
                END { exit !found }' "$map" || echo "$section says $number, and $map does not say where it is from"
        done
    done
)
[ -z "$problems" ] || { echo "$problems"; exit 1; }
