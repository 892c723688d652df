# Sourced by run.sh. Checks the Markdown files: each relative link names a file or folder that git
# has, and a heading in it; README.md has at most 1,600 words; and the hosted workflow runs the two
# commands of README.md.

# Prints the violations, then `N passed, N failed`: one check for each link, and two more.
check_links() {
    checked=$(tracked | awk '
        function slug(text) {
            text = tolower(text)
            gsub(/[^a-z0-9 _-]/, "", text)
            gsub(/ /, "-", text)
            return text
        }
        function normal(path,   n, parts, i, out, depth) {
            n = split(path, parts, "/")
            depth = 0
            for (i = 1; i <= n; i++) {
                if (parts[i] == "" || parts[i] == ".") continue
                if (parts[i] == "..") depth--
                else out[++depth] = parts[i]
            }
            path = ""
            for (i = 1; i <= depth; i++) path = path (i > 1 ? "/" : "") out[i]
            return path
        }
        NR == FNR { # the names of all files, then the Markdown files themselves
            name = $0
            exists[name] = 1
            while (sub(/\/[^\/]*$/, "", name)) exists[name] = 1
            next
        }
        FNR == 1 { inside = 0 }
        /^```/ { inside = !inside; next }
        inside { next }
        /^#+ / {
            heading = $0
            sub(/^#+ /, "", heading)
            headings[FILENAME "#" slug(heading)] = 1
        }
        { text = text_before[FILENAME] $0 }
        { text_before[FILENAME] = /\[[^]]*$/ ? $0 " " : "" }
        {
            while (match(text, /\]\([^) ]*\)/)) {
                link = substr(text, RSTART + 2, RLENGTH - 3)
                text = substr(text, RSTART + RLENGTH)
                if (link !~ /^[a-z]+:/) links[++n] = FILENAME "|" FNR "|" link
            }
        }
        END {
            for (i = 1; i <= n; i++) {
                split(links[i], part, "|")
                folder = part[1]
                if (!sub(/\/[^\/]*$/, "", folder)) folder = ""
                target = part[3]
                anchor = ""
                if (match(target, /#/)) {
                    anchor = substr(target, RSTART + 1)
                    target = substr(target, 1, RSTART - 1)
                }
                file = target == "" ? part[1] : normal(folder "/" target)
                ok = file in exists && (anchor == "" || (file "#" anchor) in headings)
                if (ok) passed++
                else { failed++; print "failed: " part[1] ":" part[2] ": no " part[3] }
            }
            if (n < 20) { failed++; print "failed: only " n + 0 " links found" }
            print passed + 0 " passed, " failed + 0 " failed"
        }
    ' - $(tracked | grep '[.]md$'))
    printf '%s\n' "$checked" | grep -v '^[0-9]* passed'
    set -- $(printf '%s\n' "$checked" | grep '^[0-9]* passed')
    passed=${1:-0} failed=${3:-1} words=$(wc -w <README.md)
    if [ "$words" -le 1600 ]; then passed=$((passed + 1)); else
        echo "failed: README.md has $words words, more than 1600"; failed=$((failed + 1)); fi
    if grep -q '^ *- run: make run$' .github/workflows/ci.yml &&
        grep -q '^ *- run: make check$' .github/workflows/ci.yml; then passed=$((passed + 1)); else
        echo "failed: the hosted workflow does not run both commands"; failed=$((failed + 1)); fi
    echo "$passed passed, $failed failed"
}
