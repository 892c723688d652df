# Sourced by run.sh. Checks the tables of tests/header/concurrency.md: the last cell of a row names
# files of the repository and tests in them (`FILE: TEST, TEST; FILE`), or is empty if the
# counterpart is "none: REASON".

# Prints the violations, then `N passed, N failed`: one check for each file or test that a row
# names.
check_concurrency() {
    awk -F ' *[|] *' '
        function wrong(what) { print "wrong " NR " " what }
        /^\| [SR] \|/ {
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
        END { if (rows < 80) wrong("only " rows + 0 " rows") }
    ' tests/header/concurrency.md | {
        passed=0 failed=0
        while read -r what row file test; do
            case $what in
                file) [ -f "$file" ] || what="no file $file" ;;
                test) grep -qs "^TEST[A-Z_]*($test)" "$file" || what="no test $test in $file" ;;
                *)    what="$file $test" ;;
            esac
            case $what in
                file|test) passed=$((passed + 1)) ;;
                *) echo "failed: tests/header/concurrency.md:$row: $what"; failed=$((failed + 1)) ;;
            esac
        done
        echo "$passed passed, $failed failed"
    }
}
