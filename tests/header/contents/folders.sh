# Sourced by run.sh, after lines.sh. `ls tests` explains itself: at most six folders, and only
# check.sh, test.h and RESULTS.md beside them. A new test goes into the folder of what it tests.

# Prints the violations, then `N passed, N failed`: one check for the folders, one for the files.
check_folders() {
    files | awk -F / '
        $1 != "tests" { next }
        NF > 2 { if (!folders[$2]++) list = list " " $2; next }
        $2 != "check.sh" && $2 != "test.h" && $2 != "RESULTS.md" { loose = loose " " $2 }
        END {
            n = split(list, names, " ")
            if (n == 0 || n > 6) print "failed: tests has " n " folders, not one to six:" list
            if (loose != "") print "failed: loose files in tests:" loose
            failed = (n == 0 || n > 6) + (loose != "")
            print 2 - failed " passed, " failed " failed"
        }'
}
