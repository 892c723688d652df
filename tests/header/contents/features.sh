# Sourced by run.sh. Checks the tables of features.md and concurrency.md: the last cell of a row
# names files of the repository and tests in them (`FILE: TEST, TEST; FILE`), or is empty if the
# counterpart is "none: REASON".

check_features() {
    check_table tests/header/features.md 100
    check_table tests/header/concurrency.md 80
}

# FILE ROWS: prints the violations, then `N passed, N failed`: one check for each file or test that
# a row names. ROWS: the file has at least so many.
check_table() {
    awk -v least="$2" -F ' *[|] *' '
        function wrong(what) { print "wrong " NR " " what }
        /^\| [FSR] \|/ {
            rows++
            if (NF != 6) wrong("not four cells")
            else if (($4 ~ /^none: .../) != ($5 == ""))
                wrong("either a file, or none: and the reason")
            n = split($5, files, /; */)
            for (i = 1; i <= n; i++) {
                m = split(files[i], parts, /: */)
                if (m == 1) print "file " NR " " parts[1]
                m = split(m > 1 ? parts[2] : "", tests, /, */)
                for (k = 1; k <= m; k++) print "test " NR " " parts[1] " " tests[k]
            }
        }
        END { if (rows < least) wrong("only " rows + 0 " rows") }
    ' "$1" | {
        passed=0 failed=0 table=$1
        while read -r what row file test; do
            case $what in
                file) [ -f "$file" ] || what="no file $file" ;;
                test) grep -qs "^TEST[A-Z_]*($test)" "$file" || what="no test $test in $file" ;;
                *)    what="$file $test" ;;
            esac
            case $what in
                file|test) passed=$((passed + 1)) ;;
                *) echo "failed: $table:$row: $what"; failed=$((failed + 1)) ;;
            esac
        done
        echo "$passed passed, $failed failed"
    }
}
