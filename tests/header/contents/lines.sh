# Sourced by run.sh. Checks that each line of each file has at most 100 columns, that no C body on
# one line has two or more statements, and that no function of the header and the CPU device has
# more than 105 lines. Columns are characters: the second and later bytes of a UTF-8 character do
# not count.
tracked() {
    if [ -e .git ] && git ls-files >/dev/null 2>&1; then
        git ls-files
    else
        find . -type f ! -path './build/*' ! -path './.git/*' | sed 's|^\./||'
    fi | sort
}
files() { tracked | grep -v '\.png$'; } # those with text

# Files that may have longer lines or bodies, and why.
exempt_from_columns() {
    case $1 in
        LICENSE) ;;                                  # not our text
        examples/*.svg) ;;                           # as gpuexec_timeline_page wrote them
        tests/device/random/[A-Z]*[A-Z]) ;;          # rows that build/random writes and reads
        tests/device/forms/DIFFERENCES) ;;           # forms as build/forms prints them
        tests/device/probe/*.txt) ;;                 # rows that tests/device/probe prints and reads
        tests/*/fuzz/regressions/*/*.ptx) return 1 ;;
        tests/*/fuzz/regressions/*) ;;                          # bytes as fuzzing found them
        tests/device/unit/cdp.ptx|tests/device/unit/clusters.ptx) ;;   # as nvcc wrote it
        *.ptx) sed 1q "$1" | grep -q '^// Made from' ;;                # the same
        *) return 1 ;;
    esac
}
exempt_from_bodies() {
    case $1 in
        # their PTX contains their line numbers
        tests/device/corpus/debug.cu|tests/device/corpus/lineinfo.cu) ;;
        *.c|*.h|*.cpp|*.cu|*.cuh) return 1 ;;
        *) ;;
    esac
}

# Prints the violations, then `N passed, N failed`: one check for each file and rule.
check_lines() {
    files | while IFS= read -r file; do
        [ -f "$file" ] || continue
        columns=1 bodies=1
        ! exempt_from_columns "$file" || columns=0
        ! exempt_from_bodies "$file" || bodies=0
        [ "$columns$bodies" != 00 ] || continue
        printf '\n\001%s %s %s\n' "$columns" "$bodies" "$file"
        cat "$file"
    done | LC_ALL=C tr -d '\200-\277' | LC_ALL=C awk '
        BEGIN {
            # what ends so before a brace: a type, whose members follow
            of_type = "(^|[^A-Za-z0-9_])(struct|union|enum|class|namespace)[^(){};=]*$"
        }
        # The line without comments and with emptied literals; `comment`: a comment continues on the
        # next line.
        function bare(line,    out, i, c, n, quote) {
            n = length(line)
            for (i = 1; i <= n; i++) {
                c = substr(line, i, 1)
                if (comment) {
                    if (c == "*" && substr(line, i + 1, 1) == "/") {
                        comment = 0
                        i++
                    }
                } else if (quote != "") {
                    if (c == "\\") i++
                    else if (c == quote) quote = ""
                } else if (c == "/" && substr(line, i + 1, 1) == "*") {
                    comment = 1
                    i++
                } else if (c == "/" && substr(line, i + 1, 1) == "/") {
                    break
                } else if (c == "\"" || c == "\047") {
                    quote = c
                    out = out "\""
                } else out = out c
            }
            return out
        }
        # Whether a block that opens and closes on this line has several statements. Those of a
        # struct are members, and a loop of the CPU device over lanes or elements is one operation.
        function several(line,    i, c, n, depth, parens, before, rest, count, at, type) {
            n = length(line)
            if (line ~ /(SIM_LANES|ELEMENTS|HALF_LANES)[ {]/) return 0
            depth = parens = 0
            for (i = 1; i <= n; i++) {
                c = substr(line, i, 1)
                if (c == "(") parens++
                else if (c == ")") parens--
                else if (c == "{") {
                    before = substr(line, 1, i - 1)
                    gsub(/__[a-z]+__ *\(+[^()]*\)+/, "", before)
                    depth++
                    count[depth] = 0
                    at[depth] = parens
                    type[depth] = before ~ of_type
                } else if (c == "}" && depth > 0) {
                    if (count[depth] >= 2 && !type[depth]) return 1
                    rest = substr(line, i + 1)
                    depth--
                    if (depth > 0 && rest !~ /^ *(else|while|[,;)=.])/) count[depth]++
                } else if (c == ";" && depth > 0 && parens == at[depth]) {
                    if (substr(line, i + 1) !~ /^ *else[^A-Za-z0-9_]/) count[depth]++
                }
            }
            return 0
        }
        function wrong(rule, text) {
            if (!bad[rule]++) failed++
            if (bad[rule] <= 5) print "failed: " file ":" NR - first ": " text
        }
        function close_file() {
            if (file == "") return
            if (columns && !bad["columns"]) passed++
            if (bodies && !bad["bodies"]) passed++
            if (bodies && !bad["functions"]) passed++
        }
        /^\001/ {
            close_file()
            columns = substr($1, 2)
            bodies = $2
            file = $3
            first = NR
            begun = comment = bad["columns"] = bad["bodies"] = bad["functions"] = 0
            next
        }
        columns && length($0) > 100 && !(file ~ /\.md$/ && /^(\||main\.c:)/) &&
            file !~ /forms\/(LIST|VERDICTS)$/ {
            # rows and what a program prints are one line
            wrong("columns", length($0) " columns, more than 100")
        }
        file == "gpuexec.h" && /^ *>>start$/ { manual = 1 }
        file == "gpuexec.h" && /^#ifndef GPUEXEC_H/ { manual = 0 }
        manual && /^   [^ ]/ { wrong("columns", "a formatter moved this line of the manual: " $0) }
        bodies {
            line = comment || /[\/"\047]/ ? bare($0) : $0
            if (line ~ /\{.*;.*;.*\}|\{.*\}.*;.*\}/ && several(line))
                wrong("bodies", "several statements in one line: " $0)
            if (file ~ /^(gpuexec\.h|tests\/simgpu\/.*)$/ && $0 ~ /^[A-Za-z_].*\(/) begun = NR
            if ($0 == "}" && begun && NR - begun >= 105)
                wrong("functions", "the end of a function of " NR - begun + 1 \
                    " lines, more than 105")
            if ($0 ~ /^\}/) begun = 0
        }
        END {
            close_file()
            printf "%d passed, %d failed\n", passed, failed
        }'
}
