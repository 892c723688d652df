# Sourced by run.sh, after lines.sh. Finds the phrases that CONTRIBUTING.md's table says to avoid,
# in every file that people read: comments, messages and names, and also where a phrase goes on in
# the next line.
exempt_from_phrases() {
    case $1 in
        LICENSE|*.png|*.ptx) ;;                                 # not our text
        tests/device/random/[A-Z]*[A-Z]) ;;
        tests/device/probe/*.txt|tests/*/fuzz/regressions/*) ;; # data
        tests/device/corpus/*.cu) ;;                            # kernels as users write them
        *) return 1 ;;
    esac
}

# Prints each phrase with its file and line, then `N passed, N failed`: one check for each file.
check_phrases() {
    phrases=$(
        awk '/^\| avoid \|/ { inside = 1; next } !/^\|/ { inside = 0 } inside' CONTRIBUTING.md |
        cut -d'|' -f2 | tr -d '\n' | sed 's/^[^`]*`//; s/`[^`]*$//; s/`[^`]*`/|/g')
    files | while IFS= read -r file; do
        [ -f "$file" ] && ! exempt_from_phrases "$file" || continue
        printf '\001%s\n' "$file"
        cat "$file"
    done | LC_ALL=C awk -v phrases="$phrases" '
        function count() { if (file != "") if (found) failed++; else passed++ }
        BEGIN { pattern = "(^|[^a-z0-9_])(" phrases ")($|[^a-z0-9_])" }
        /^\001/ {
            count()
            file = substr($0, 2)
            line = found = table = 0
            tail = ""
            next
        }
        {
            line++
            if (file == "CONTRIBUTING.md") {                    # the table itself may have them
                if (/^\| avoid \|/) table = 1
                else if (!/^\|/) table = 0
                if (table) next
            }
            text = tolower($0)
            gsub(/^[ *\/#"|]+|[ "\\]+$/, "", text)
            text = tail " " text
            known = length(tail)
            rest = text
            at = 0
            while (match(rest, pattern)) {
                if (at + RSTART + RLENGTH - 1 > known + 1) {
                    phrase = substr(rest, RSTART, RLENGTH)
                    gsub(/^[^a-z]|[^a-z]$/, "", phrase)
                    print "failed: " file ":" line ": \"" phrase "\" (CONTRIBUTING.md, Words)"
                    found++
                }
                at += RSTART + RLENGTH - 2
                rest = substr(rest, RSTART + RLENGTH - 1)
            }
            tail = substr(text, length(text) > 30 ? length(text) - 29 : 1)
            sub(/\\n$/, "", tail)
        }
        END {
            count()
            if (phrases == "") print "failed: CONTRIBUTING.md has no table of phrases"
            print passed + 0 " passed, " failed + (phrases == "") " failed"
        }
    '
}
