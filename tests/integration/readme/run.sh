#!/bin/sh
# Compiles and runs the programs in the documentation: README.md's ```c and ```cpp blocks that have
# a main(), and the header's own >>start. Each runs in an empty directory with gpuexec.h and the PTX
# of kernels/, as for a reader. C programs are also compiled as C++, with the implementation that
# make has built: tests/header/compile compiles that as C++. A line with a comment
# `/* prints: TEXT */` or `// prints: TEXT` states what must be printed; exit code 77 means
# that the machine lacks something. Then the programs in the
# manual's chapter OVERLAPPING WORK run in guide.c. Without a line that is marked
# `// without this, ...`, their results must be wrong on the CPU device with SIMGPU_LAZY=60000,
# where no work starts just because time passes.
cd "$(dirname "$0")/../../.." || exit 1
root=$PWD
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-readme-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
passed=0 failed=0 skipped=0
cxx=$(${CXX:-c++} --version 2> /dev/null)

ok()   { passed=$((passed + 1)); [ -z "${TEST_VERBOSE:-}" ] || echo "  ok: $1"; }
bad()  { failed=$((failed + 1)); echo "failed: $1"; sed 's/^/    /' "$2" | head -n 20; }
skip() { skipped=$((skipped + 1)); echo "  skipped: $1"; }

# Blocks into $out/LINE.c and $out/LINE.cpp, named by the line where they begin; those without
# main() are removed.
awk -v out="$out" '
    /^```(c|cpp|c\+\+)$/ { file = sprintf("%s/README-line-%d.%s", out, NR,
        $0 == "```c" ? "c" : "cpp"); next }
    /^```/               { if (file) close(file); file = ""; next }
    file                 { print > file }
' README.md
awk -v file="$out/header-start.c" '
    /^    >>start *$/ { on = 1; next }
    on && /^        #define GPUEXEC_IMPLEMENTATION/ { text = 1 }
    on && text && /^    [^ ]/ { exit }
    on && text { print substr($0, 9) > file }
' gpuexec.h

implementation=${BUILD:-build}/implementation.o
case $implementation in /*) ;; *) implementation=$root/$implementation ;; esac

# NAME COMPILER...: compiles with the strict set's plain part, as a reader does, and runs. gcc takes
# seconds for the warning that is left out.
run() {
    name=$1; shift
    dir=$out/run; rm -rf "$dir"; mkdir "$dir"; cp "$root/gpuexec.h" "$root"/kernels/*.ptx "$dir"
    set -- "$@" -Wall -Wextra -Wno-misleading-indentation -Werror $SAN_FLAGS
    (cd "$dir" && "$@" -I. "$source" -o program -ldl -lpthread) >"$out/log" 2>&1 ||
        { bad "$name: does not compile" "$out/log"; return; }
    (cd "$dir" && ./program) >"$out/log" 2>&1
    case $? in
    0) ;;
    77) skip "$name: $(sed -n 1p "$out/log")"; return ;;
    *) bad "$name: does not run" "$out/log"; return ;;
    esac
    sed -n 's/.*\(\/\*\|\/\/\) *prints: \(.*[^ ]\) *$/\2/p' "$source" |
        sed 's/ *\*\/$//' >"$out/prints"
    while IFS= read -r line; do
        grep -Fxq -- "$line" "$out/log" ||
            { echo "(lacks the line: $line)" >>"$out/log"; bad "$name: prints something else" \
            "$out/log"; return; }
    done <"$out/prints"
    ok "$name"
}

for source in "$out"/*.c "$out"/*.cpp; do
    [ -f "$source" ] || continue
    grep -q 'main *(' "$source" || continue
    name=$(basename "$source")
    case $name in
    header-start.c) run "$name" ${CC:-cc} -std=c99 ;;
    *.c) run "$name" ${CC:-cc} -std=c99 -DGPUEXEC_IMPLEMENTED "$implementation" ;;
    esac
    if [ -n "$cxx" ]; then
        run "$name as C++" ${CXX:-c++} -std=c++11 -DGPUEXEC_IMPLEMENTED "$implementation" -x c++
    else
        skip "$name as C++: no C++ compiler on this machine"
    fi
done

# The first program, with the one change that the README names, must print the error shown below it.
first=$out/README-line-$(ls "$out" | sed -n 's/^README-line-\([0-9]*\)[.]c$/\1/p' | sort -n |
    head -n 1).c
sed -n 's/^Change `\(.*\)` to `\(.*\)`, and the program says.*/\1\n\2/p' README.md >"$out/change"
awk '/^Change `/ { on = 1 } on &&
    /^```/ { if (inside) exit; inside = 1; next } inside' README.md >"$out/wanted"
dir=$out/changed; mkdir "$dir"; cp gpuexec.h "$dir"
awk '
    NR == FNR { change[NR] = $0; next }
    (at = index($0, change[1])) { $0 = substr($0, 1, at - 1) change[2] substr($0,
        at + length(change[1])) }
    { print }
' "$out/change" "$first" >"$dir/main.c"
if ! (cd "$dir" && ${CC:-cc} -std=c99 $SAN_FLAGS -DGPUEXEC_IMPLEMENTED main.c "$implementation" \
    -o main \
    -ldl -lpthread) >"$out/log" 2>&1; then
    bad "the sample error: does not compile" "$out/log"
elif (cd "$dir" && ./main) >"$out/log" 2>&1 || ! cmp -s "$out/wanted" "$out/log" ||
    cmp -s "$first" "$dir/main.c"; then
    bad "the sample error: prints something else" "$out/log"
else
    ok "the sample error"
fi

# The programs of the guide: at most ten lines each.
awk -v out="$out/guide" '
    /^    OVERLAPPING WORK/ { on = 1; next }
    on && /^ *$/ { exit }
    on && /^          / {
        if (!inside++) n++
        print > (out "-" n ".h")
        if (/without this,/) print inside > (out "-" n ".lines")
    }
    on && /^      [^ ]/ { inside = 0 }
' gpuexec.h
cp kernels/saxpy.ptx "$out"
guide() { # PROGRAM COMPILER...: returns its exit code, 4 if it does not compile
    program=$1; shift
    set -- "$@" "$root/tests/integration/readme/guide.c" -x none "$implementation" -o guide -ldl \
        -lpthread
    set -- "$@" -DGPUEXEC_IMPLEMENTED "-DPROGRAM=\"$program\"" -I"$root" -I.
    (cd "$out" && "$@" -Wall -Wextra -Wno-missing-field-initializers -Werror $SAN_FLAGS) \
        >"$out/log" 2>&1 || return 4
    (cd "$out" && ./guide) >>"$out/log" 2>&1
}
for source in "$out"/guide-*.h; do
    name=$(basename "$source")
    [ "$(wc -l <"$source")" -le 10 ] || bad "$name: more than ten lines" "$source"
    guide "$name" ${CC:-cc} -std=c99 && ok "$name" || bad "$name: exit code $?" "$out/log"
    if [ -n "$cxx" ]; then
        guide "$name" ${CXX:-c++} -std=c++11 -x c++ && ok "$name as C++" ||
            bad "$name as C++: exit code $?" "$out/log"
    fi
    case ${GPUEXEC_DRIVER:-} in *libsimgpu*) ;; *) continue ;; esac
    [ -e "${source%.h}.lines" ] || continue
    while read -r line; do
        sed "${line}d" "$source" >"$out/without.h"
        SIMGPU_LAZY=60000 SIMGPU_THREADS=1 guide without.h ${CC:-cc} -std=c99
        code=$?
        if [ $code -eq 3 ]; then ok "$name without line $line"
        else bad "$name without line $line: exit code $code" "$source"; fi
    done <"${source%.h}.lines"
done
[ "$(ls "$out"/guide-*.h | wc -l)" -ge 8 ] && ok "guide found" ||
    bad "the guide has few programs" "$out/log"

# At least the first program and the header's must be found.
[ -f "$out/header-start.c" ] && ls "$out"/README-line-*.c >/dev/null 2>&1 && ok "programs found" ||
    { echo "no program found in README.md or in the header's >>start" >"$out/log"; bad \
    "programs found" "$out/log"; }
echo "suite readme: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
