#!/bin/sh
# The layers of the CPU device are the folders of tests/simgpu: everything that a file calls or
# reads, according to nm on its object, must be defined in its own layer or a lower one; the same
# holds for the headers it includes. Of another layer than base it may include only the header that
# is its map. nm does not see calls through a pointer (an instruction's handler, an operation's
# function): these may go up.
# Inside a layer, too, there is an order: no file may need another one that needs the first,
# directly or through others.
cd "$(dirname "$0")/../../.." || exit 1
layers='base text execute lower run objects driver'       # from the lowest to the highest
build=${BUILD:-build}
command -v nm >/dev/null 2>&1 ||
    { echo "  skipped: no nm on this machine"; echo "suite layers: 0 passed, 0 failed, 1 skipped"; \
    exit 0; }

for source in tests/simgpu/*/*.[ch]; do
    file=${source#tests/simgpu/}
    echo "file $file"
    sed -n 's/^ *# *include *"\(.*\)".*/include \1/p' "$source"
    case $file in *.c)
        nm -gP "$build/simgpu/${file%.c}.o" 2>/dev/null |
            awk '{ print ($2 ~ /^[Uvw]$/ ? "uses" : "defines"), $1 }' ;;
    esac
done | awk -v layers="$layers" '
    function check(ok, what) { if (ok) passed++; else { failed++; print "failed: " what } }
    function layer_of(path) { sub(/\/.*/, "", path); return path }
    function wrong(what) { failed++; print "failed: " file " " what; good[file] = 0 }

    function cycles(   a, b, c) {   # needs becomes transitive; what then needs itself is in a cycle
        for (pair in needs) { split(pair, f, SUBSEP); inside[f[1]] = inside[f[2]] = 1;
        direct[pair] = needs[pair] }
        for (b in inside) for (a in inside) if ((a, b) in needs) for (c in inside) if ((b,
            c) in needs) needs[a, c]
        for (pair in direct) {
            split(pair, f, SUBSEP)
            if (!((f[2], f[1]) in needs)) continue
            file = f[1]
            wrong("is in a circle: it uses " direct[pair] " of " f[2] ", which needs it")
        }
    }

    BEGIN { n = split(layers, name, " "); for (i = 1; i <= n; i++) height[name[i]] = i }
    $1 == "file" {
        file = $2
        own = layer_of(file)
        good[file] = 1
        if (!(own in height)) wrong("is in no known layer")
        files[own]++
    }
    $1 == "defines" { definer[$2] = file; objects[file] = 1 }
    $1 == "uses" { user[++uses] = file; used[uses] = $2; objects[file] = 1 }
    $1 == "include" {
        other = $2 ~ /^\.\.\// ? layer_of(substr($2, 4)) : own
        if (!(other in height) ||
            height[other] > height[own]) wrong("includes " $2 ", of a higher layer")
        else if (other != own && other != "base" && $2 != "../" other "/" other ".h")
            wrong("includes " $2 ", which is private to " other)
    }
    END {
        for (i = 1; i <= uses; i++) {
            if (!(used[i] in definer)) continue
            file = user[i]
            to = definer[used[i]]
            if (height[layer_of(to)] > height[layer_of(file)]) wrong("uses " used[i] " of " to)
            else if (layer_of(to) != layer_of(file)) down++
            else if (to != file) needs[file, to] = used[i]
        }
        cycles()
        for (file in good) {
            if (file ~ /\.c$/ &&
                !(file in objects)) wrong("is not built, or nm reports nothing for it")
            passed += good[file]
        }
        for (i = 1; i <= n; i++) check(files[name[i]], "nothing is in " name[i])
        # only a guard for the checks above
        check(down >= 100, "only " down + 0 " uses of lower layers found")
        printf "suite layers: %d passed, %d failed, 0 skipped\n", passed, failed
        exit failed > 0
    }'
