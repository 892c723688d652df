#!/bin/sh
# Compiles the header as its users do: languages, standards, compilers, ways of linking; and looks at the symbols that come out.
# Everything is compiled under the strict flags with -Werror, and nothing may be printed. CC and CXX name a compiler more than gcc and
# clang, g++ and clang++; TEST_VERBOSE=1 lists each step. The programs run on the device that GPUEXEC_DRIVER says.
cd "$(dirname "$0")/../.." || exit 1
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-compile-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
here=tests/compile
strict='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual -Wundef -Werror'
libs='-ldl -lpthread'
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
        case " $seen " in *" $c "*) continue ;; esac
        seen="$seen $c"
        if have "$c"; then echo "$c"; fi
    done
}
seen=; ccs=$(compilers gcc clang $(case ${CC:-cc} in cc) ;; *' '*) ;; *) echo "$CC" ;; esac))
seen=; cxxs=$(compilers g++ clang++ $(case ${CXX:-c++} in c++) ;; *' '*) ;; *) echo "$CXX" ;; esac))
for c in gcc clang g++ clang++; do have $c || skip "$c: not on this machine"; done
[ -n "$ccs" ] || ccs=cc
[ -z "${SAN_FLAGS:-}" ] || { ccs=${CC:-cc}; cxxs=${CXX:-c++}; }      # one compiler: two kinds of ASan do not go into one process
accepts() { c=$1; shift; echo 'int main(void) { return 0; }' >"$out/empty.$language"; "$c" "$@" -fsyntax-only "$out/empty.$language" >/dev/null 2>&1; }

# Every function that the header declares, so that a program which uses all of them can be linked.
{
    echo '#include "gpuexec.h"'
    echo 'typedef void (*function)(void); extern const function functions[]; const function functions[] = {'
    sed -n '/>>end-of-api ==/q; /^GPUEXEC_API/s/^GPUEXEC_API [^(]*[ *(]*\(gpuexec_[a-z0-9_]*\))*(.*/    (function)(\1),/p' gpuexec.h
    echo '};'
} >"$out/everything.c"
[ "$(grep -c '(function)' "$out/everything.c")" -ge 60 ] && ok "functions found" || { cp "$out/everything.c" "$out/log"; bad "functions found"; }

language=c
for cc in $ccs; do
    c="$cc $strict -Wstrict-prototypes"
    for std in c99 c11 c17 c2x gnu99 gnu17; do
        accepts "$cc" -std=$std || { skip "$cc -std=$std: not known to it"; continue; }
        quiet "$cc $std: implementation" $c -std=$std -fsyntax-only $here/implementation.c
        quiet "$cc $std: header" $c -std=$std -fsyntax-only $here/program.c
        quiet "$cc $std: static" $c -std=$std -fsyntax-only -DGPUEXEC_STATIC $here/program.c
        quiet "$cc $std: arguments" $c -std=$std -fsyntax-only $here/args.c
    done
    c="$c -std=c99"
    quiet "$cc: optimised" $c -O2 -c $here/implementation.c -o "$out/o2.o"
    quiet "$cc: without places" $c -DGPUEXEC_NO_HERE -fsyntax-only $here/implementation.c
    quiet "$cc: one file" $c $SAN_FLAGS -DGPUEXEC_IMPLEMENTATION $here/program.c -o "$out/one" $libs
    quiet "$cc: one file runs" "$out/one"
    quiet "$cc: two files" $c $SAN_FLAGS $here/program.c $here/implementation.c -o "$out/two" $libs
    quiet "$cc: two files run" "$out/two"
    quiet "$cc: static in two files" $c $SAN_FLAGS -DGPUEXEC_STATIC $here/program.c $here/static_two.c -o "$out/static" $libs
    quiet "$cc: static in two files runs" "$out/static"
    quiet "$cc: all declared functions are there" $cc -std=c99 -I. -shared -fPIC -Wl,-z,defs "$out/everything.c" $here/implementation.c -o "$out/everything.so" $libs
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
    for cuda in "${CUDA_HOME:-/usr/local/cuda}/include" ''; do [ -f "$cuda/cuda.h" ] && break; done
    if [ -n "$cuda" ]; then
        for where in CUDA_FIRST CUDA_LAST; do quiet "$cc: real cuda.h, $where" $c -isystem "$cuda" -DREAL_CUDA_H -D$where -fsyntax-only $here/cuda_types.c; done
        quiet "$cc: real cuda.h, versions, values and layouts" $c -std=gnu11 -isystem "$cuda" -fsyntax-only $here/cuda_values.c
    else
        skip "$cc: real cuda.h: not on this machine"
    fi
done

language=cc
for cxx in $cxxs; do
    c="$cxx $strict"
    for std in c++11 c++14 c++17 c++20 c++2b; do
        accepts "$cxx" -std=$std || { skip "$cxx -std=$std: not known to it"; continue; }
        quiet "$cxx $std: implementation" $c -std=$std -x c++ -fsyntax-only $here/implementation.c
        quiet "$cxx $std: header" $c -std=$std -x c++ -fsyntax-only $here/program.c
        quiet "$cxx $std: values" $c -std=$std -fsyntax-only $here/values.cpp
    done
    c="$c -std=c++11"
    quiet "$cxx: static" $c -x c++ -DGPUEXEC_STATIC -fsyntax-only $here/program.c
    quiet "$cxx: no exceptions, no rtti" $c -fno-exceptions -fno-rtti -DGPUEXEC_IMPLEMENTATION -fsyntax-only $here/values.cpp
    quiet "$cxx: implementation in C++" $c $SAN_FLAGS -DGPUEXEC_IMPLEMENTATION $here/values.cpp -o "$out/cpp" $libs
    quiet "$cxx: implementation in C++ runs" "$out/cpp"
    for cc in $ccs; do
        quiet "$cxx and $cc: implementation in C" $cc -std=c99 $SAN_FLAGS -c $here/implementation.c -o "$out/c.o"
        quiet "$cxx and $cc: used from C++" $c $SAN_FLAGS $here/values.cpp "$out/c.o" -o "$out/mixed" $libs
        quiet "$cxx and $cc: used from C++ runs" "$out/mixed"
    done
    for where in CUDA_FIRST CUDA_LAST; do
        quiet "$cxx: cuda.h's types, $where" $c -x c++ -D$where -fsyntax-only $here/cuda_types.c
    done
done

# Three libraries in one process, each with a copy of its own; one of another linkage.
cc=$(echo $ccs | cut -d' ' -f1)
so="$cc $strict -std=c99 $SAN_FLAGS -shared -fPIC"
quiet "plugin a" $so $here/plugin.c -o "$out/a.so" $libs
quiet "plugin b" $so $here/plugin.c -o "$out/b.so" $libs
quiet "plugin s" $so -DGPUEXEC_STATIC $here/plugin.c -o "$out/s.so" $libs
quiet "plugin host" $cc $strict -std=c99 $SAN_FLAGS $here/plugin_host.c -o "$out/host" $libs
quiet "three copies in one process" "$out/host" "$out/a.so" "$out/b.so" "$out/s.so"
quiet "three copies in one process, a static one first" "$out/host" "$out/s.so" "$out/b.so" "$out/a.so"
quiet "plugin example: host" $cc $strict -std=c99 $SAN_FLAGS examples/plugin.c -o "$out/plugin" $libs
quiet "plugin example: library" $so examples/plugin.c -o "$out/plugin.so" $libs
quiet "plugin example: loaded by its host" sh -c '"$0" "$1" >/dev/null' "$out/plugin" "$out/plugin.so"

# Symbols.
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
    sed -n 's/.*(function)(\(.*\)),/\1/p' "$out/everything.c" | sort | comm -3 - "$out/have" | empty "symbols: exactly the API when exported"
else
    skip "symbols: no nm on this machine"
fi

echo "suite compile: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
