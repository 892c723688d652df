# Sourced by run.sh. An entry point of the driver is declared once, in GXI_DRIVER or
# tests/support/entry_points.rows: entry_points.awk refuses a second row. In the C files, these
# patterns are a second declaration:
#   cuMemFree, 3020                      a row with a version
#   cuMemFree_v2, (ptr)                  a row with types, also with quotes; but SIM_API in the CPU
#                                        device
#   { "cuMemFree_v2", "a" }              a row with letters
#   (*cuMemFree)(                        a pointer
#   #define ..._cuMemFree                a macro for each entry point
# gpuexec_driver_symbol("cuMemFree", 3020) looks one up. tests/header/abi has NVIDIA's own, and the
# examples are for users.
# Prints the violations, then `N passed, N failed`: one check for each row and for each file.
check_entry_points() {
    rows=$(awk -f tests/support/entry_points.awk gpuexec.h tests/support/entry_points.rows) &&
        bad=0 || bad=1
    rows=$(printf '%s\n' "$rows" | grep -cE '^(DRIVER|MISSING)_ROW\(')
    files | grep -E '\.(c|h|cpp|cu)$' | grep -v '^tests/header/abi/\|^examples/' |
        while IFS= read -r file; do
        [ ! -f "$file" ] || { printf '\n\001%s\n' "$file"; cat "$file"; }
    done | LC_ALL=C awk -v passed="$rows" -v failed=$bad '
        function wrong(text) {
            bad = 1
            print "failed: " file ":" NR - first ": " text " declares an entry point again"
        }
        function close_file() { if (file != "") if (bad) failed++; else passed++ }
        BEGIN {
            cu = "cu[A-Z][A-Za-z0-9_]*"
            type = "(const |struct )?(void|int|unsigned|char|size_t|float|ptr|address|" \
                   "uint64_t|gpuexec_ptr|CU[A-Za-z_]*|gxi_[a-z0-9_]*)[ ,)*]"
        }
        /^\001/ {
            close_file()
            file = substr($1, 2)
            first = NR
            bad = inside = 0
            typed = file ~ /^tests\// && file !~ /^tests\/simgpu\//
            next
        }
        file == "gpuexec.h" && /^#define GXI_DRIVER\(ROW\)/ { inside = 1 }
        inside { if (!/\\$/) inside = 0; next }
        $0 ~ "[ ({]" cu ", *[0-9][0-9][0-9][0-9]" { wrong("a version") }
        typed && $0 ~ "[ (\"]" cu "\"?, *\\(" type { wrong("a list of types") }
        $0 ~ "\\{ *\"" cu "\", *\"[^\" ]*\" *\\}" { wrong("a list of letters") }
        $0 ~ "\\(([A-Z_]+ )?\\*" cu "\\) *\\(" { wrong("a pointer") }
        $0 ~ "^# *define [A-Za-z]*_" cu { wrong("a macro") }
        END {
            close_file()
            print passed " passed, " failed " failed"
        }'
}
