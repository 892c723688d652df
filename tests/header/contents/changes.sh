# Checks CHANGELOG.md's tables of names against the header: what replaces a name exists, what was
# replaced is gone, unless its name now means something else; and that at most 16 functions copy or
# fill. Its last line is `N passed, N failed`.
check_changes() {
    awk '
        function check(ok, what) { if (ok) passed++; else { failed++; print "failed: " what } }
        function names(text, into,    name) {
            while (match(text, /gpuexec_[a-z0-9_]+/)) {
                name = substr(text, RSTART, RLENGTH)
                into[name] = FILENAME ":" FNR
                text = substr(text, RSTART + RLENGTH)
            }
        }
        FILENAME == "gpuexec.h" { names($0, known) }
        FILENAME == "gpuexec.h" && /^#define gpuexec_[a-z0-9_]*(copy|fill)[a-z0-9_]*\(/ &&
            !/explain/ { copies++ }
        FILENAME == "CHANGELOG.md" && /^\|/ {
            split($0, column, "|")
            names(column[2], old)
            names(column[3], new)
        }
        END {
            for (name in new) check(name in known, new[name] ": " name " does not exist")
            for (name in old)
                check(name in new || !(name in known), old[name] ": " name " still exists")
            check(length(old) > 30, "CHANGELOG.md has " length(old) " old names")
            check(copies > 0 && copies <= 16, copies " functions copy or fill, more than 16")
            print passed + 0 " passed, " failed + 0 " failed"
        }' gpuexec.h CHANGELOG.md
}
