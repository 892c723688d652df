#!/bin/sh
# Compiles the header as its users do: languages, standards, compilers, ways of linking; and looks at the symbols that come out.
# Everything is compiled under the strict flags with -Werror, and nothing may be printed. CC and CXX name a compiler more than gcc and
# clang, g++ and clang++; TEST_VERBOSE=1 lists each step. The programs run on the device that GPUEXEC_DRIVER says. MATRIX=1 takes every gcc and
# clang of the machine, tcc, and more of what can be combined (minutes); MATRIX=windows is mingw-w64 and wine alone.
cd "$(dirname "$0")/../.." || exit 1
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-compile-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
here=tests/compile
strict='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wundef -Werror'
libs='-ldl -lpthread'
# clang -Weverything, but for:
everything='-Weverything -Wno-unknown-warning-option'
everything="$everything -Wno-padded"                      # structs have padding
everything="$everything -Wno-duplicate-enum"              # GPUEXEC_LONG is another enumerator's other name
everything="$everything -Wno-disabled-macro-expansion"    # macros that add the caller's place have their function's name
everything="$everything -Wno-format-nonliteral"           # a function that passes its caller's format on, which was checked there
everything="$everything -Wno-declaration-after-statement" # C99
everything="$everything -Wno-switch-default"              # switches name all enumerators, so that -Wswitch tells when one is missing
everything="$everything -Wno-unsafe-buffer-usage"         # every index is one: it is C
everything="$everything -Wno-c++98-compat -Wno-c++98-compat-pedantic"
top=$out started=0 MATRIX=${MATRIX:-}
passed=0 failed=0 skipped=0

ok()   { passed=$((passed + 1)); [ -z "${TEST_VERBOSE:-}" ] || echo "  ok: $1"; }
bad()  { failed=$((failed + 1)); echo "failed: $1"; sed 's/^/    /' "$out/log" | head -n 12; }
skip() { skipped=$((skipped + 1)); echo "  skipped: $1"; }
have() { command -v "$1" >/dev/null 2>&1; }

# quiet NAME COMMAND...: it succeeds and prints nothing.
quiet() { name=$1; shift; if "$@" >"$out/log" 2>&1 && [ ! -s "$out/log" ]; then ok "$name"; else echo "(from: $*)" >>"$out/log"; bad "$name"; fi; }
# refused NAME TEXT COMMAND...: it fails, and says TEXT (a pattern of grep -E).
refused() {
    name=$1 text=$2; shift 2
    if "$@" >"$out/log" 2>&1; then echo "(should not compile: $*)" >>"$out/log"; bad "$name"
    elif grep -Eq "$text" "$out/log"; then ok "$name"
    else echo "(lacks: $text)" >>"$out/log"; bad "$name"; fi
}
# empty NAME: standard input is empty.
empty() { cat >"$out/log"; if [ -s "$out/log" ]; then bad "$1"; else ok "$1"; fi; }

compilers() { # the wanted ones that are here, each once
    for c in "$@"; do
        have "$c" || continue
        real=$(readlink -f "$(command -v "$c")")
        case " $seen " in *" $real "*) continue ;; esac
        seen="$seen $real"
        echo "$c"
    done
}
versions() { [ -z "$MATRIX" ] || for c in "/usr/bin/$1"-[0-9]* "/usr/local/bin/$1"-[0-9]*; do case $c in *[!0-9]) ;; *) [ ! -x "$c" ] || echo "${c##*/}" ;; esac; done; }
seen=; ccs=$(compilers gcc clang $(versions gcc) $(versions clang) $(case ${CC:-cc} in cc) ;; *' '*) ;; *) echo "$CC" ;; esac))
seen=; cxxs=$(compilers g++ clang++ $(versions g++) $(versions clang++) $(case ${CXX:-c++} in c++) ;; *' '*) ;; *) echo "$CXX" ;; esac))
for c in gcc clang g++ clang++; do have $c || [ "$MATRIX" = windows ] || skip "$c: not on this machine"; done
[ -n "$ccs" ] || ccs=cc
[ -z "${SAN_FLAGS:-}" ] || { ccs=${CC:-cc}; cxxs=${CXX:-c++}; }      # one compiler: two kinds of ASan do not go into one process
accepts() { compiler=$1; shift; echo 'int main(void) { return 0; }' >"$out/empty.$language"; "$compiler" "$@" -fsyntax-only "$out/empty.$language" >/dev/null 2>&1; }
is_clang() { "$1" --version | grep -q clang; }

# beside FUNCTION ARGUMENT: in a folder of its own, two at a time. together: waits for them, and says and counts what they did.
beside() {
    started=$((started + 1))
    (
        out=$top/$started passed=0 failed=0 skipped=0
        mkdir "$out"
        "$@"
        echo "$passed $failed $skipped" >"$out/counts"
    ) >"$top/said.$started" 2>&1 &
    [ $((started % 2)) -eq 1 ] || wait
}
together() {
    wait
    for i in $(seq $started); do
        cat "$top/said.$i"
        read -r p f s <"$top/$i/counts" || { p=0 f=1 s=0; echo "failed: part $i did not come to its end"; }
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    done
    started=0
    rm -rf "$top"/[0-9]*
}

# Every function that the header declares, so that a program which uses all of them can be linked.
{
    echo '#include "gpuexec.h"'
    echo 'typedef void (*function)(void); extern const function functions[]; const function functions[] = {'
    sed -n '/>>end-of-api ==/q; /^GPUEXEC_API/s/^GPUEXEC_API [^(]*[ *(]*\(gpuexec_[a-z0-9_]*\))*(.*/    (function)(\1),/p' gpuexec.h
    echo '};'
} >"$out/everything.c"
[ "$(grep -c '(function)' "$out/everything.c")" -ge 60 ] && ok "functions found" || { cp "$out/everything.c" "$out/log"; bad "functions found"; }

in_c() {
    cc=$1 language=c
    c="$cc $strict -Wstrict-prototypes"
    for std in c99 c11 c17 c2x gnu99 gnu17; do
        accepts "$cc" -std=$std || { skip "$cc -std=$std: not known to it"; continue; }
        quiet "$cc $std: implementation" $c -std=$std -fsyntax-only $here/implementation.c
        quiet "$cc $std: header" $c -std=$std -fsyntax-only $here/program.c
        quiet "$cc $std: static" $c -std=$std -fsyntax-only -DGPUEXEC_STATIC $here/program.c
        quiet "$cc $std: arguments" $c -std=$std -fsyntax-only $here/args.c
        [ -n "$MATRIX" ] || continue
        for places in '' -DGPUEXEC_NO_HERE; do
            for file in implementation program args; do
                quiet "$cc $std $places: $file" $c -std=$std $places -fsyntax-only $here/$file.c
                ! is_clang "$cc" || quiet "$cc $std $places: $file, -Weverything" "$cc" $everything -Werror -std=$std $places -fsyntax-only $here/$file.c
            done
            quiet "$cc $std $places: static" $c -std=$std $places -DGPUEXEC_STATIC -fsyntax-only $here/program.c
        done
        case $std in c99|gnu17) for o in -O0 -O1 -O2 -O3 -Os; do       # some warnings come with the optimiser
            quiet "$cc $std $o: implementation" $c -std=$std $o -c $here/implementation.c -o "$out/o"
            quiet "$cc $std $o: static" $c -std=$std $o -DGPUEXEC_STATIC -c $here/program.c -o "$out/o"
        done ;; esac
    done
    c="$c -std=c99"
    ! is_clang "$cc" || for file in implementation program args; do quiet "$cc: $file, -Weverything" "$cc" $everything -Werror -std=c99 -fsyntax-only $here/$file.c; done
    quiet "$cc: to be used from C++" $c $SAN_FLAGS -c $here/implementation.c -o "$top/$cc.o"
    quiet "$cc: optimised" $c -O2 -c $here/implementation.c -o "$out/o2.o"
    for file in implementation program args; do quiet "$cc: $file, without places" $c -DGPUEXEC_NO_HERE -fsyntax-only $here/$file.c; done
    quiet "$cc: one file" $c $SAN_FLAGS -DGPUEXEC_IMPLEMENTATION $here/program.c -o "$out/one" $libs
    quiet "$cc: one file runs" "$out/one"
    quiet "$cc: two files" $c $SAN_FLAGS $here/program.c $here/implementation.c -o "$out/two" $libs
    quiet "$cc: two files run" "$out/two"
    quiet "$cc: static in two files" $c $SAN_FLAGS -DGPUEXEC_STATIC $here/program.c $here/static_two.c -o "$out/static" $libs
    quiet "$cc: static in two files runs" "$out/static"
    quiet "$cc: all declared functions are there" $cc -std=c99 -I. -shared -fPIC -Wl,-z,defs "$top/everything.c" $here/implementation.c -o "$out/everything.so" $libs
    refused "$cc: two implementations" 'multiple definition' $cc -std=c99 -DGPUEXEC_IMPLEMENTATION $here/program.c $here/implementation.c -o "$out/twice" $libs

    refused "$cc: no arguments" 'expected expression|GPUEXEC_NO_ARGS' $c -DMISUSE=0 -fsyntax-only $here/args.c
    refused "$cc: 65 arguments" 'GPUEXEC_ARGS_takes_at_most_64_arguments' $c -DMISUSE=65 -fsyntax-only $here/args.c
    refused "$cc: 100 arguments" 'GPUEXEC_ARGS_takes_at_most_64_arguments' $c -DMISUSE=100 -fsyntax-only $here/args.c
    refused "$cc: an argument that is no lvalue" 'lvalue required|cannot take the address of an rvalue' $c -DMISUSE=1 -fsyntax-only $here/args.c
    refused "$cc: GPUEXEC_ARGS forgotten" 'gpuexec_args' $c -DMISUSE=2 -fsyntax-only $here/args.c
    refused "$cc: wrong order" 'gpuexec_stream|gpuexec_dims' $c -DMISUSE=3 -fsyntax-only $here/args.c

    for where in CUDA_FIRST CUDA_LAST; do
        quiet "$cc: cuda.h's types, $where" $c -D$where -fsyntax-only $here/cuda_types.c
    done
}

in_cxx() {
    cxx=$1 language=cc
    c="$cxx $strict"
    for std in c++11 c++14 c++17 c++20 c++2b; do
        accepts "$cxx" -std=$std || { skip "$cxx -std=$std: not known to it"; continue; }
        quiet "$cxx $std: implementation" $c -std=$std -x c++ -fsyntax-only $here/implementation.c
        quiet "$cxx $std: header" $c -std=$std -x c++ -fsyntax-only $here/program.c
        quiet "$cxx $std: values" $c -std=$std -fsyntax-only $here/values.cpp
        [ -n "$MATRIX" ] || continue
        for places in '' -DGPUEXEC_NO_HERE; do
            for file in implementation.c values.cpp; do
                quiet "$cxx $std $places: $file" $c -std=$std $places -x c++ -fsyntax-only $here/$file
                ! is_clang "$cxx" || quiet "$cxx $std $places: $file, -Weverything" "$cxx" $everything -Werror -std=$std $places -x c++ -fsyntax-only $here/$file
            done
            quiet "$cxx $std $places: static" $c -std=$std $places -x c++ -DGPUEXEC_STATIC -fsyntax-only $here/program.c
        done
        case $std in c++11|c++20) for o in -O0 -O2 -O3; do
            quiet "$cxx $std $o: implementation" $c -std=$std $o -x c++ -c $here/implementation.c -o "$out/o"
            quiet "$cxx $std $o: values" $c -std=$std $o -c $here/values.cpp -o "$out/o"
        done ;; esac
    done
    c="$c -std=c++11"
    ! is_clang "$cxx" || for file in implementation.c values.cpp; do quiet "$cxx: $file, -Weverything" "$cxx" $everything -Werror -std=c++11 -x c++ -fsyntax-only $here/$file; done
    is_clang "$cxx" || quiet "$cxx: no cast of the old style, none that is useless" $c -Wold-style-cast -Wuseless-cast -Wzero-as-null-pointer-constant -DGPUEXEC_IMPLEMENTATION -fsyntax-only $here/values.cpp
    quiet "$cxx: static" $c -x c++ -DGPUEXEC_STATIC -fsyntax-only $here/program.c
    quiet "$cxx: no exceptions, no rtti" $c -fno-exceptions -fno-rtti -DGPUEXEC_IMPLEMENTATION -fsyntax-only $here/values.cpp
    quiet "$cxx: implementation in C++" $c $SAN_FLAGS -DGPUEXEC_IMPLEMENTATION $here/values.cpp -o "$out/cpp" $libs
    quiet "$cxx: implementation in C++ runs" "$out/cpp"
    for cc in $ccs; do
        quiet "$cxx and $cc: used from C++" $c $SAN_FLAGS $here/values.cpp "$top/$cc.o" -o "$out/mixed" $libs
        quiet "$cxx and $cc: used from C++ runs" "$out/mixed"
    done
    for where in CUDA_FIRST CUDA_LAST; do
        quiet "$cxx: cuda.h's types, $where" $c -x c++ -D$where -fsyntax-only $here/cuda_types.c
    done
}

# Libraries in one process, each with a copy of its own; one of another linkage, one of another version.
in_plugins() {
    cc=$(echo $ccs | cut -d' ' -f1)
    so="$cc $strict -std=c99 $SAN_FLAGS -shared -fPIC"
    quiet "plugin a" $so $here/plugin.c -o "$out/a.so" $libs
    quiet "plugin b" $so $here/plugin.c -o "$out/b.so" $libs
    quiet "plugin s" $so -DGPUEXEC_STATIC $here/plugin.c -o "$out/s.so" $libs
    mkdir -p "$out/other/tests/compile"
    cp $here/plugin.c "$out/other/tests/compile/"
    sed 's/^\(#define GPUEXEC_VERSION_M[AJINOR]*\) .*/\1 7/; s/^\(#define GPUEXEC_VERSION_PATCH\) .*/\1 7/; s/^#if GPUEXEC_VERSION != .*/#if GPUEXEC_VERSION != 70707/' \
        gpuexec.h >"$out/other/gpuexec.h"
    printf '#include "%s/gpuexec.h"\n#define GPUEXEC_IMPLEMENTATION\n#include "gpuexec.h"\n' "$out/other" >"$out/two_versions.c"
    refused "two versions in one file" "another version's header was included before it" $cc -I. -fsyntax-only "$out/two_versions.c"
    quiet "plugin of another version" $so "$out/other/tests/compile/plugin.c" -o "$out/other.so" $libs
    quiet "plugin host" $cc $strict -std=c99 $SAN_FLAGS $here/plugin_host.c -o "$out/host" $libs
    quiet "three copies in one process" "$out/host" "$out/a.so" "$out/b.so" "$out/s.so"
    quiet "three copies in one process, a static one first" "$out/host" "$out/s.so" "$out/b.so" "$out/a.so"
    quiet "copies of two versions in one process" "$out/host" "$out/a.so" "$out/other.so" "$out/s.so"
    quiet "copies of two versions in one process, the other one first" "$out/host" "$out/other.so" "$out/a.so" "$out/b.so"
    quiet "plugin example: host" $cc $strict -std=c99 $SAN_FLAGS examples/plugin.c -o "$out/plugin" $libs
    quiet "plugin example: library" $so examples/plugin.c -o "$out/plugin.so" $libs
    quiet "plugin example: loaded by its host" sh -c '"$0" "$1" >/dev/null' "$out/plugin" "$out/plugin.so"
}

in_symbols() {
    cc=$(echo $ccs | cut -d' ' -f1)
    if have nm; then
        $cc -std=c99 -fPIC -c $here/implementation.c -o "$out/normal.o"
        $cc -std=c99 -fPIC -c -DGPUEXEC_STATIC $here/static_two.c -o "$out/static.o"
        $cc -std=c99 -fPIC -shared $here/implementation.c -o "$out/hidden.so" $libs
        $cc -std=c99 -fPIC -shared '-DGPUEXEC_API=__attribute__((visibility("default")))' $here/implementation.c -o "$out/exported.so" $libs
        nm -g --defined-only "$out/normal.o" | awk '{ print $NF }' | grep -v '^gpuexec_' | empty "symbols: all begin with gpuexec_"
        nm -g --defined-only "$out/static.o" | awk '{ print $NF }' | grep -v '^second_files_function$' | empty "symbols: none with GPUEXEC_STATIC"
        nm -D --defined-only "$out/hidden.so" | awk '{ print $NF }' | grep -E 'gpuexec|gxi' | empty "symbols: hidden in a shared library"
        nm "$out/normal.o" "$out/static.o" | awk '{ print $NF }' | grep -E '^cu[A-Z]' | empty "symbols: none of CUDA's"
        nm -D --defined-only "$out/exported.so" | awk '{ print $NF }' | grep '^gpuexec_' | sort >"$out/have"
        sed -n 's/.*(function)(\(.*\)),/\1/p' "$top/everything.c" | sort | comm -3 - "$out/have" | empty "symbols: exactly the API when exported"
    else
        skip "symbols: no nm on this machine"
    fi
}

# tcc has GNU C's macros, but not always its __thread.
in_tcc() {
    have tcc || { skip "tcc: not on this machine"; return; }
    quiet "tcc: header" tcc -Wall -Werror -c $here/program.c -o "$out/o"
    quiet "tcc: arguments" tcc -Wall -Werror -c $here/args.c -o "$out/o"
    echo 'static __thread int x; int main(void) { return x; }' >"$out/thread.c"
    if tcc "$out/thread.c" -o "$out/thread" >/dev/null 2>&1; then
        quiet "tcc: implementation" tcc -Wall -Werror -DGPUEXEC_IMPLEMENTATION $here/program.c -o "$out/tcc" $libs
        quiet "tcc: implementation runs" "$out/tcc"
    else
        skip "tcc: implementation: this tcc has no thread-local variables (__thread)"
    fi
}

# Windows, by mingw-w64; what needs no driver runs in wine. plugin.c is for systems that have dlopen.
in_windows() {
    cc=x86_64-w64-mingw32-gcc cxx=x86_64-w64-mingw32-g++ language=c
    have $cc || { skip "Windows: no $cc on this machine"; return; }
    c="$cc $strict -Wstrict-prototypes"
    for std in c99 c11 c17 gnu99 gnu17; do
        for file in implementation program args; do quiet "Windows $std: $file" $c -std=$std -fsyntax-only $here/$file.c; done
        quiet "Windows $std: static" $c -std=$std -DGPUEXEC_STATIC -fsyntax-only $here/program.c
    done
    for example in examples/*.c; do
        [ $example = examples/plugin.c ] || quiet "Windows: $example" $c -std=c99 -O2 $example -o "$out/$(basename $example .c).exe" -static -lpthread
    done
    quiet "Windows: a DLL" $c -std=c99 -static -shared $here/windows.c -o "$out/windows.dll"
    quiet "Windows: its host" $c -std=c99 -static -DHOST $here/windows.c -o "$out/windows.exe"
    quiet "Windows: the empty driver of tests/cost" $cc -std=c99 -static -shared tests/cost/driver.c -o "$out/driver.dll"
    quiet "Windows: its host" $c -std=c99 -O2 tests/cost/launches.c -o "$out/launches.exe" -static -lpthread
    if have $cxx; then
        for std in c++11 c++14 c++17 c++20; do
            quiet "Windows $std: implementation" $cxx $strict -std=$std -x c++ -fsyntax-only $here/implementation.c
            quiet "Windows $std: values" $cxx $strict -std=$std -fsyntax-only $here/values.cpp
        done
    else
        skip "Windows: no $cxx on this machine"
    fi
    have wine || { skip "Windows: no wine on this machine: nothing runs"; return; }
    # (a program that crashes there hangs)
    export WINEPREFIX="$out/wine" WINEDEBUG=-all
    unset GPUEXEC_DRIVER DISPLAY
    timeout 100 wine "$out/device_info.exe" >/dev/null 2>&1          # the first run makes the prefix, and says so
    refused "Windows: without a driver" 'no CUDA driver on this machine; tried nvcuda.dll' timeout 100 wine "$out/device_info.exe"
    refused "Windows: without a driver, the cure" 'cure: install NVIDIA.s driver .CUDA 11.4 or later., or run on the CPU device .of Linux, so under WSL.' timeout 100 wine "$out/device_info.exe"
    GPUEXEC_DRIVER='C:\nowhere\nvcuda.dll'
    export GPUEXEC_DRIVER
    refused "Windows: a driver that is not there" 'cannot load the driver library "C:.nowhere.nvcuda.dll" that the environment.s GPUEXEC_DRIVER names: .*Windows error [23126]+ ' timeout 100 wine "$out/device_info.exe"
    refused "Windows: a driver that is not there, the cure" 'cure: correct the path' timeout 100 wine "$out/device_info.exe"
    unset GPUEXEC_DRIVER
    for kind in plain prepared; do
        quiet "Windows: the empty driver is loaded, $kind launches" sh -c 'cd "$0" && GPUEXEC_DRIVER=./driver.dll timeout 100 wine launches.exe $1 100 2>&1' "$out" $kind
    done
    quiet "Windows: a DLL is unloaded" sh -c 'cd "$0" && [ "$(timeout 100 wine windows.exe 2>&1 | tr -d "\r")" = "6 times loaded and unloaded" ]' "$out"
    wineserver -k >/dev/null 2>&1 || true
}

if [ "$MATRIX" = windows ]; then
    beside in_windows
else
    for cc in $ccs; do beside in_c "$cc"; done
    together
    for cxx in $cxxs; do beside in_cxx "$cxx"; done
    beside in_plugins
    beside in_symbols
    [ -z "$MATRIX" ] || beside in_tcc
fi
together

echo "suite compile: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
