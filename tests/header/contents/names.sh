# Sourced by run.sh. Checks the private names of gpuexec.h (gxi_, GXI_) against the glossary in
# CONTRIBUTING.md (Private names), which has both lists that are read here: the functions whose name
# is one word, and the words and endings that no name has. A listed word that gpuexec.h does not use
# is wrong, too.
# Prints the violations, then `N passed, N failed`: one check for each name.
check_names() {
    # the words in backticks of the row that begins with $1
    row() { sed -n "s/^| $1 |\(.*\)|.*|\$/\1/p" CONTRIBUTING.md | grep -o '`[^`]*`' | tr -d '`' |
        tr '\n' ' '; }
    LC_ALL=C awk -v words="$(row 'one word')" -v endings="$(row 'no name ends in')" \
        -v never="$(row 'no identifier is')" '
        function wrong(line, text) {
            print "failed: gpuexec.h:" line ": " text " (CONTRIBUTING.md, Private names)"
            failed++
        }
        # The line without comments and literals; `comment`: a comment continues on the next line.
        function bare(line,    out, at) {
            gsub(/\\./, "", line)
            while (line != "") {
                if (comment) {
                    if (!(at = index(line, "*/"))) return out
                    comment = 0
                    line = substr(line, at + 2)
                } else if (!match(line, /\/\*|\/\/|"[^"]*"|\047[^\047]*\047/)) {
                    return out line
                } else {
                    out = out substr(line, 1, RSTART - 1) " "
                    if (substr(line, RSTART, 2) == "//") return out
                    comment = substr(line, RSTART, 2) == "/*"
                    line = substr(line, RSTART + RLENGTH)
                }
            }
            return out
        }
        function look(name, next_char, line,    word, ending) {
            if (name in nevers) wrong(line, "an identifier `" name "`")
            if (name !~ /^(gxi|GXI)_/) return
            word = substr(name, 5)
            if (name ~ /^gxi_/ && next_char == "(") {
                called[name] = called[name] ? called[name] : line
                if (word in known) used[word] = 1
            }
            if (name in seen) return
            seen[name] = 1
            names++
            if (length(name) > 32 &&
                name ~ /^gxi_/) wrong(line, name " has more than 32 characters")
            for (ending in ends)
                if (tolower(name) ~ ending "$") wrong(line, name " ends in " ending)
        }
        BEGIN {
            for (i = split(words, list, " "); i > 0; i--) known[list[i]] = 1
            for (i = split(endings, list, " "); i > 0; i--) ends[list[i]] = 1
            for (i = split(never, list, " "); i > 0; i--) nevers[list[i]] = 1
        }
        {
            line = bare($0)
            while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
                name = substr(line, RSTART, RLENGTH)
                line = substr(line, RSTART + RLENGTH)
                if (before == "struct" || before == "union") types[name] = 1
                before = name
                look(name, substr(line, 1, 1), NR)
            }
        }
        END {
            for (name in called) {
                word = substr(name, 5)
                if (word !~ /_/ && !(word in known) && !(name in types))
                    wrong(called[name], name " is one word: name its object, or its family")
            }
            for (word in known) if (!(word in used)) wrong(0,
                "no function gxi_" word ": take it from the glossary")
            if (words == "" || endings == "" || never == "" ||
                names < 500) wrong(0, names + 0 " names, or no glossary")
            printf "%d passed, %d failed\n", (names > failed ? names - failed : 0), failed
        }
    ' gpuexec.h
}
