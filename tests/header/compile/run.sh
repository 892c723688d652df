#!/bin/sh
# Compiles the header as its users do: languages, standards, compilers, ways of linking; and checks
# the resulting symbols. Everything is compiled under the strict flags with -Werror, and nothing may
# be printed. CC and CXX name the compilers; TEST_VERBOSE=1 lists each step. The programs run on the
# device that GPUEXEC_DRIVER names. By default, only what finds most: the oldest standards, all
# warnings, one program in each language. MATRIX=1 uses every gcc and clang of the machine, tcc, all
# standards, levels of optimisation and ways of linking, and compares symbols (minutes on two
# cores); MATRIX=windows is mingw-w64 and wine alone. The work is divided into parts, the functions
# below with their arguments, and this script runs itself for each of them, as many at a time as
# there are cores.
cd "$(dirname "$0")/../../.." || exit 1
here=tests/header/compile
strict='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wcast-qual'
strict="$strict -Wundef -Werror"
# This warning takes gcc most of its time, since the file is long: gcc looks only with -O2.
strict="$strict -Wno-misleading-indentation"
indentation() { [ "$1" != -O2 ] || echo -Wmisleading-indentation; }
libs='-ldl -lpthread'
# clang -Weverything, except for:
everything='-Weverything -Wno-unknown-warning-option'
everything="$everything -Wno-padded"                # structs have padding
everything="$everything -Wno-duplicate-enum"        # GPUEXEC_LONG is an alias of another enumerator
# macros that add the caller's place have their function's name
everything="$everything -Wno-disabled-macro-expansion"
# a function that passes on its caller's format, which was checked there
everything="$everything -Wno-format-nonliteral"
everything="$everything -Wno-declaration-after-statement" # C99
# switches name all enumerators, so that -Wswitch reports a missing one
everything="$everything -Wno-switch-default"
everything="$everything -Wno-unsafe-buffer-usage"         # every index is one: this is C
everything="$everything -Wno-c++98-compat -Wno-c++98-compat-pedantic"
passed=0 failed=0 skipped=0
omitted=$(sed -n 's/^#undef GPUEXEC_\(NO_.*\)/\1/p' gpuexec.h | sort -u) # all that options omit

ok()   { passed=$((passed + 1)); [ -z "${TEST_VERBOSE:-}" ] || echo "  ok: $1"; }
bad()  { failed=$((failed + 1)); echo "failed: $1"; sed 's/^/    /' "$out/log" | head -n 12; }
skip() { skipped=$((skipped + 1)); echo "  skipped: $1"; }
have() { command -v "$1" >/dev/null 2>&1; }

# quiet NAME COMMAND...: the command must succeed and print nothing.
quiet() {
    name=$1
    shift
    if "$@" >"$out/log" 2>&1 </dev/null && [ ! -s "$out/log" ]; then
        ok "$name"
    else
        echo "(from: $*)" >>"$out/log"
        bad "$name"
    fi
}
# refused NAME TEXT COMMAND...: the command must fail, and print TEXT (a pattern of grep -E).
refused() {
    name=$1 text=$2; shift 2
    if "$@" >"$out/log" 2>&1; then echo "(should not compile: $*)" >>"$out/log"; bad "$name"
    elif grep -Eq "$text" "$out/log"; then ok "$name"
    else echo "(lacks: $text)" >>"$out/log"; bad "$name"; fi
}
# empty NAME: standard input must be empty.
empty() { cat >"$out/log"; if [ -s "$out/log" ]; then bad "$1"; else ok "$1"; fi; }
# accepts EXTENSION COMMAND...: whether this compiler accepts these flags.
accepts() {
    echo 'int main(void) { return 0; }' >"$out/empty.$1"
    shift
    "$@" -fsyntax-only "$out/empty."* >/dev/null 2>&1
}
is_clang() { "$@" --version | grep -q clang; }

# everything_of 'STANDARD PLACES' LANGUAGE FILE COMPILER...: with -Weverything, which only clang
# has.
everything_of() {
    flags="-std=$1 -x $2" source=$3; shift 3
    ! is_clang "$@" ||
        quiet "$*: $source, $flags -Weverything" "$@" $everything -Werror $flags -fsyntax-only \
        $here/$source
}

# ---- the parts. A compiler comes last, since it may have several words: ccache gcc ----

# One standard of C.
c_standard() {
    std=$1; shift
    c="$* $strict -Wstrict-prototypes -std=$std -fsyntax-only"
    accepts c $c || { skip "$* -std=$std: not supported"; return; }
    for places in '' ${MATRIX:+-DGPUEXEC_NO_HERE}; do
        for file in implementation program args; do
            quiet "$* $std $places: $file" $c $places $here/$file.c
            [ -z "$MATRIX" ] || everything_of "$std $places" c $file.c "$@"
        done
        quiet "$* $std $places: static" $c $places -DGPUEXEC_STATIC $here/program.c
        [ "$std" = c99 ] || continue
        for part in CORE_ONLY $omitted; do
            quiet "$* $std $places: $part" $c $places -DGPUEXEC_$part $here/implementation.c
        done
        quiet "$* $std $places: static, CORE_ONLY" $c $places -DGPUEXEC_CORE_ONLY -DGPUEXEC_STATIC \
            -Wno-unused-function $here/core.c
    done
}
# Some warnings need the optimiser.
c_optimised() {
    std=$1 level=$2; shift 2
    quiet "$* $std $level: implementation" "$@" $strict $(indentation $level) \
        -Wstrict-prototypes -std=$std $level -c $here/implementation.c \
        -o "$out/o"
    [ $level != -O2 ] || [ -z "$MATRIX" ] ||
        quiet "$* $std $level: static" "$@" $strict -std=$std $level -DGPUEXEC_STATIC \
        -c $here/program.c -o "$out/o"
}
c_programs() {
    c="$* $strict -std=c99 $SAN_FLAGS"
    quiet "$*: core only" $c -DGPUEXEC_CORE_ONLY -DGPUEXEC_IMPLEMENTATION $here/core.c \
        -o "$out/core" $libs
    quiet "$*: core only runs" "$out/core"
    quiet "$*: implementation" $c -c $here/implementation.c -o "$out/c.o"
    quiet "$*: two files" $c $here/program.c "$out/c.o" -o "$out/two" $libs
    quiet "$*: two files run" "$out/two"
    for std in c99 c11; do
        c11="$* $strict -std=$std $SAN_FLAGS"
        accepts c $c11 || { skip "$* -std=$std: not supported"; continue; }
        quiet "$* $std: types" $c11 $here/types.c "$out/c.o" -o "$out/types" $libs
        quiet "$* $std: types runs" "$out/types"
    done
    refused "$*: a part that is omitted" 'undefined reference to .gpuexec_' $c \
        -DGPUEXEC_CORE_ONLY -DGPUEXEC_IMPLEMENTATION $here/program.c -o "$out/lacks" $libs
    [ -n "$MATRIX" ] || return 0
    quiet "$*: one file" $c -DGPUEXEC_IMPLEMENTATION $here/program.c -o "$out/one" $libs
    quiet "$*: one file runs" "$out/one"
    quiet "$*: static in two files" $c -DGPUEXEC_STATIC $here/program.c $here/static_two.c \
        -o "$out/static" $libs
    quiet "$*: static in two files runs" "$out/static"
}
c_warnings() {
    c="$* $strict -std=c99 -fsyntax-only"
    for file in implementation program args; do everything_of c99 c $file.c "$@"; done
    for file in implementation program args; do
        quiet "$*: $file, without places" $c -DGPUEXEC_NO_HERE $here/$file.c
    done
    refused "$*: no arguments" 'expected expression|GPUEXEC_NO_ARGS' $c -DMISUSE=0 $here/args.c
    refused "$*: 65 arguments" 'GPUEXEC_ARGS_takes_at_most_64_arguments' $c -DMISUSE=65 $here/args.c
    refused "$*: 100 arguments" 'GPUEXEC_ARGS_takes_at_most_64_arguments' $c -DMISUSE=100 \
        $here/args.c
    refused "$*: an argument that is no lvalue" \
        'lvalue required|cannot take the address of an rvalue' \
        $c -DMISUSE=1 $here/args.c
    refused "$*: GPUEXEC_ARGS forgotten" 'gpuexec_args' $c -DMISUSE=2 $here/args.c
    refused "$*: an argument of 65540 bytes" 'GPUEXEC_ARGS_takes_at_most_32764_bytes' $c \
        -DMISUSE=4 $here/args.c
    refused "$*: a bit-field" 'bit-field' $c -DMISUSE=7 $here/args.c
    c11="$* $strict -std=c11 -fsyntax-only"
    if accepts c $c11; then
        for handle in 5 6; do
            refused "$*: a handle as an argument" 'GPUEXEC_ARGS_takes_no_handles' $c11 \
                -DMISUSE=$handle $here/args.c
        done
        quiet "$* c11: arguments of every type" $c11 $here/args.c
        everything_of c11 c args.c "$@"
    else
        skip "$* -std=c11: not supported"
    fi
    refused "$*: wrong order" 'gpuexec_stream|gpuexec_dims' $c -DMISUSE=3 $here/args.c
    for where in CUDA_FIRST CUDA_LAST; do quiet "$*: cuda.h's types, $where" $c -D$where \
        $here/cuda_types.c; done
}

cxx_standard() {
    std=$1; shift
    c="$* $strict -std=$std -fsyntax-only"
    accepts cc $c || { skip "$* -std=$std: not supported"; return; }
    quiet "$* $std: header" $c -x c++ $here/program.c
    for places in '' ${MATRIX:+-DGPUEXEC_NO_HERE}; do
        for file in implementation.c values.cpp owners.cpp; do
            quiet "$* $std $places: $file" $c $places -x c++ $here/$file
            [ -z "$MATRIX" ] || everything_of "$std $places" c++ $file "$@"
        done
        [ -z "$MATRIX" ] || quiet "$* $std $places: static" $c $places -x c++ -DGPUEXEC_STATIC \
            $here/program.c
        [ "$std" = c++11 ] || continue
        for part in CORE_ONLY ${MATRIX:+$omitted}; do
            quiet "$* $std $places: $part" $c $places -x c++ -DGPUEXEC_$part $here/implementation.c
        done
    done
}
cxx_optimised() {
    std=$1 level=$2; shift 2
    quiet "$* $std $level: implementation" "$@" $strict $(indentation $level) -std=$std $level \
        -x c++ -c $here/implementation.c -o "$out/o"
    quiet "$* $std $level: values" "$@" $strict -std=$std $level -c $here/values.cpp -o "$out/o"
}
cxx_programs() {
    c="$* $strict -std=c++11 $SAN_FLAGS"
    quiet "$*: implementation" $c -x c++ -c $here/implementation.c -o "$out/cpp.o"
    quiet "$*: values" $c $here/values.cpp "$out/cpp.o" -o "$out/values" $libs
    quiet "$*: values run" "$out/values"
    quiet "$*: owners" $c $here/owners.cpp "$out/cpp.o" -o "$out/owners" $libs
    quiet "$*: owners run" "$out/owners"
    quiet "$*: callbacks that throw" $c $here/throwing.cpp "$out/cpp.o" -o "$out/throwing" $libs
    quiet "$*: callbacks that throw end the program" "$out/throwing"
    [ -n "$MATRIX" ] || return 0
    quiet "$*: implementation in C++" $c -DGPUEXEC_IMPLEMENTATION $here/values.cpp -o "$out/cpp" \
        $libs
    quiet "$*: implementation in C++ runs" "$out/cpp"
    while read -r cc; do
        quiet "$* and $cc: in C, to be used from C++" $cc $strict -std=c99 $SAN_FLAGS \
            -c $here/implementation.c \
            -o "$out/c.o"
        quiet "$* and $cc: used from C++" $c $here/values.cpp "$out/c.o" -o "$out/mixed" $libs
        quiet "$* and $cc: used from C++ runs" "$out/mixed"
    done <<END
$ccs
END
}
cxx_warnings() {
    c="$* $strict -std=c++11 -fsyntax-only"
    for file in implementation.c values.cpp owners.cpp; do
        everything_of c++11 c++ $file "$@"
    done
    is_clang "$@" || quiet "$*: no cast of the old style, none that is useless" \
        $c -Wold-style-cast -Wuseless-cast -Wzero-as-null-pointer-constant \
        -DGPUEXEC_IMPLEMENTATION $here/values.cpp
    quiet "$*: static" $c -x c++ -DGPUEXEC_STATIC $here/program.c
    quiet "$*: no exceptions, no rtti" $c -fno-exceptions -fno-rtti -DGPUEXEC_IMPLEMENTATION \
        $here/values.cpp
    for values in 1 2; do
        refused "$*: arguments of values that are gone" 'args' $c -DMISUSE=$values $here/values.cpp
    done
    refused "$*: an owner of a kernel" 'not kernels and nodes' $c -DMISUSE=1 $here/owners.cpp
    refused "$*: a copy of an owner" 'deleted' $c -DMISUSE=2 $here/owners.cpp
    refused "$*: an owner as an argument" 'trivially copyable' $c -DMISUSE=3 $here/owners.cpp
    for where in CUDA_FIRST CUDA_LAST; do quiet "$*: cuda.h's types, $where" $c -x c++ -D$where \
        $here/cuda_types.c; done
}

# Links a program that uses every function that the header declares: nothing is missing, nothing is
# defined twice, and the symbols are exactly those of the API.
symbols() {
    {
        echo '#include "gpuexec.h"'
        echo 'typedef void (*function)(void);'
        echo 'extern const function functions[]; const function functions[] = {'
        sed -n -e '/>>end-of-api ==/q' \
            -e 's/^GPUEXEC_API [^(]*[ *(]*\(gpuexec_[a-z0-9_]*\))*(.*/    (function)(\1),/p' \
            gpuexec.h
        echo '};'
    } >"$out/everything.c"
    c="$* -std=c99 -fPIC"
    cp "$out/everything.c" "$out/log"
    if [ "$(grep -c '(function)' "$out/everything.c")" -ge 60 ]; then
        ok "functions found"
    else
        bad "functions found"
    fi
    quiet "$*: all declared functions are there" $c -I. -shared -Wl,-z,defs "$out/everything.c" \
        $here/implementation.c \
        -o "$out/everything.so" $libs
    refused "$*: two implementations" 'multiple definition' $c -DGPUEXEC_IMPLEMENTATION \
        $here/program.c \
        $here/implementation.c -o "$out/twice" $libs
    refused "$*: left out and called" \
        'undefined.*gpuexec_(barrier|launch_multi)|gpuexec_(barrier|launch_multi).*undefined' \
        $c -I. -shared -Wl,-z,defs "$out/everything.c" -DGPUEXEC_NO_MULTI $here/implementation.c \
        -o "$out/everything.so" $libs
    have nm || { skip "symbols: no nm on this machine"; return; }
    $c -c $here/implementation.c -o "$out/normal.o"
    $c -c -DGPUEXEC_STATIC $here/static_two.c -o "$out/static.o"
    $c -shared "$out/normal.o" -o "$out/hidden.so" $libs
    $c -shared '-DGPUEXEC_API=__attribute__((visibility("default")))' $here/implementation.c \
        -o "$out/exported.so" $libs
    nm -g --defined-only "$out/normal.o" | awk '{ print $NF }' | grep -v '^gpuexec_' |
        empty "$*: symbols: all begin with gpuexec_"
    nm -g --defined-only "$out/static.o" | awk '{ print $NF }' | grep -v '^second_files_function$' |
        empty "$*: symbols: none with GPUEXEC_STATIC"
    nm -D --defined-only "$out/hidden.so" | awk '{ print $NF }' | grep -E 'gpuexec|gxi' |
        empty "$*: symbols: hidden in a shared library"
    nm "$out/normal.o" "$out/static.o" | awk '{ print $NF }' | grep -E '^cu[A-Z]' |
        empty "$*: symbols: none of CUDA's"
    nm -D --defined-only "$out/exported.so" | awk '{ print $NF }' | grep '^gpuexec_' |
        sort >"$out/have"
    sed -n 's/.*(function)(\(.*\)),/\1/p' "$out/everything.c" | sort | comm -3 - "$out/have" |
        empty "$*: symbols: exactly the API when exported"
}

# Libraries in one process, each with a separate copy; one with another linkage, one of another
# version.
plugins() {
    so="$* $strict -std=c99 $SAN_FLAGS -shared -fPIC"
    quiet "plugin a" $so $here/plugin.c -o "$out/a.so" $libs
    quiet "plugin b" $so $here/plugin.c -o "$out/b.so" $libs
    quiet "plugin s" $so -DGPUEXEC_STATIC $here/plugin.c -o "$out/s.so" $libs
    mkdir -p "$out/other/tests/header/compile"
    cp $here/plugin.c "$out/other/tests/header/compile/"
    sed -e 's/^\(#define GPUEXEC_VERSION_[MP][A-Z]*\) .*/\1 7/' \
        -e 's/^#if GPUEXEC_VERSION != .*/#if GPUEXEC_VERSION != 70707/' \
        gpuexec.h >"$out/other/gpuexec.h"
    printf '#include "%s/gpuexec.h"\n#define GPUEXEC_IMPLEMENTATION\n#include "gpuexec.h"\n' \
        "$out/other" \
        >"$out/two_versions.c"
    refused "two versions in one file" "another version's header was included before it" \
        "$@" -I. -fsyntax-only "$out/two_versions.c"
    quiet "plugin of another version" $so "$out/other/tests/header/compile/plugin.c" \
        -o "$out/other.so" $libs
    quiet "plugin host" "$@" $strict -std=c99 $SAN_FLAGS $here/plugin_host.c -o "$out/host" $libs
    quiet "three copies in one process" "$out/host" "$out/a.so" "$out/b.so" "$out/s.so"
    quiet "three copies in one process, a static one first" "$out/host" "$out/s.so" "$out/b.so" \
        "$out/a.so"
    quiet "copies of two versions in one process" "$out/host" "$out/a.so" "$out/other.so" \
        "$out/s.so"
    quiet "copies of two versions in one process, the other one first" \
        "$out/host" "$out/other.so" "$out/a.so" "$out/b.so"
    exported='-DGPUEXEC_API=__attribute__((visibility("default")))'
    quiet "plugin that exports the API" $so "$exported" $here/implementation.c -o "$out/api.so" \
        $libs
    quiet "plugin that uses it" $so "$exported" $here/plugin_user.c "$out/api.so" \
        -o "$out/user.so" $libs
    quiet "plugin that uses it: host" "$@" $strict -std=c99 $SAN_FLAGS "$exported" \
        $here/plugin_user_host.c \
        "$out/api.so" \
        -Wl,-rpath,"$out" -o "$out/user_host" $libs
    quiet "plugin that uses it, closed early" "$out/user_host" "$out/user.so"
    quiet "plugin example: host" "$@" $strict -std=c99 $SAN_FLAGS examples/plugin.c \
        -o "$out/plugin" $libs
    quiet "plugin example: library" $so examples/plugin.c -o "$out/plugin.so" $libs
    quiet "plugin example: loaded by its host" sh -c '"$0" "$1" >/dev/null' "$out/plugin" \
        "$out/plugin.so"
}

# tcc has GNU C's macros, but not always __thread.
with_tcc() {
    have tcc || { skip "tcc: not on this machine"; return; }
    quiet "tcc: header" tcc -Wall -Werror -c $here/program.c -o "$out/o"
    quiet "tcc: arguments" tcc -Wall -Werror -c $here/args.c -o "$out/o"
    echo 'static __thread int x; int main(void) { return x; }' >"$out/thread.c"
    if tcc "$out/thread.c" -o "$out/thread" >/dev/null 2>&1; then
        quiet "tcc: implementation" tcc -Wall -Werror -DGPUEXEC_IMPLEMENTATION $here/program.c \
            -o "$out/tcc" $libs
        quiet "tcc: implementation runs" "$out/tcc"
    else
        skip "tcc: implementation: this tcc has no thread-local variables (__thread)"
    fi
}

# Windows, with mingw-w64; programs that need no driver run in wine. plugin.c is for systems with
# dlopen.
mingw=x86_64-w64-mingw32
windows_c() {
    for file in implementation program args; do
        quiet "Windows $1: $file" $mingw-gcc $strict -Wstrict-prototypes -std=$1 -fsyntax-only \
            $here/$file.c
    done
    quiet "Windows $1: static" $mingw-gcc $strict -std=$1 -DGPUEXEC_STATIC -fsyntax-only \
        $here/program.c
}
windows_cxx() {
    quiet "Windows $1: implementation" $mingw-g++ $strict -std=$1 -x c++ -fsyntax-only \
        $here/implementation.c
    quiet "Windows $1: values" $mingw-g++ $strict -std=$1 -fsyntax-only $here/values.cpp
}
windows_optimised() {
    quiet "Windows $1: implementation" $mingw-gcc $strict -std=c99 $1 -c $here/implementation.c \
        -o "$out/o"
}
windows_example()   { quiet "Windows: $1" $mingw-gcc $strict -std=c99 "$1" -o "$out/example.exe" \
    -static -lpthread; }
windows_runs() {
    c="$mingw-gcc $strict -std=c99 -static"
    quiet "Windows: examples/device_info.c" $c examples/device_info.c -o "$out/device_info.exe" \
        -lpthread
    quiet "Windows: a DLL" $c -shared $here/windows.c -o "$out/windows.dll"
    quiet "Windows: its host" $c -DHOST $here/windows.c -o "$out/windows.exe"
    quiet "Windows: the empty driver of tests/header/cost" \
        $mingw-gcc -std=c99 -static -shared tests/header/cost/driver.c \
        -o "$out/driver.dll"
    quiet "Windows: its host" $c tests/header/cost/launches.c -o "$out/launches.exe" -lpthread
    have wine || { skip "Windows: no wine on this machine: nothing runs"; return; }
    # (a program that crashes there hangs)
    export WINEPREFIX="$out/wine" WINEDEBUG=-all
    unset GPUEXEC_DRIVER DISPLAY
    # the first run creates the prefix, and prints so
    timeout 100 wine "$out/device_info.exe" >/dev/null 2>&1
    run="timeout 100 wine $out/device_info.exe"
    refused "Windows: without a driver" \
        'no CUDA driver was found on this machine; tried nvcuda.dll' $run
    cure='cure: install NVIDIA.s driver .CUDA 11.4 or later., or run on the CPU device'
    refused "Windows: without a driver, the cure" "$cure .Linux only, so under WSL." $run
    GPUEXEC_DRIVER='C:\nowhere\nvcuda.dll'
    export GPUEXEC_DRIVER
    no_driver='cannot load the driver library "C:.nowhere.nvcuda.dll" .* GPUEXEC_DRIVER:'
    refused "Windows: a driver that is not there" "$no_driver .*Windows error [1236]+ " $run
    refused "Windows: a driver that is not there, the cure" 'cure: correct the variable' $run
    unset GPUEXEC_DRIVER
    for kind in launch prepared; do
        quiet "Windows: the empty driver is loaded, $kind launches" sh -c '
            cd "$0" && GPUEXEC_DRIVER=./driver.dll timeout 100 wine launches.exe $1 100 2>&1' \
            "$out" $kind
    done
    quiet "Windows: a DLL is unloaded" sh -c '
        cd "$0" && said=$(timeout 100 wine windows.exe 2>&1 | tr -d "\r") &&
        [ "$said" = "6 times loaded and unloaded" ]' "$out"
    wineserver -k >/dev/null 2>&1 || true
}

if [ "${1:-}" = part ]; then                # part NUMBER FUNCTION ARGUMENT...
    out=$top/$2
    mkdir "$out"
    shift 2
    "$@" >"$out.said" 2>&1
    echo "$passed $failed $skipped" >"$out.counts"
    rm -rf "$out"
    exit
fi

# ---- compilers and parts ----

top=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-compile-XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT
MATRIX=${MATRIX:-} SAN_FLAGS=${SAN_FLAGS:-}
# The requested compilers that are available, each once, one a line. CC may be a path, or begin with
# ccache.
compilers() {
    seen=
    while read -r c; do
        have "${c%% *}" || continue
        real=$(readlink -f "$(command -v "${c##* }")")
        case " $seen " in *" $real "*) continue ;; esac
        seen="$seen $real"
        echo "$c"
    done
}
versions() {
    for c in "/usr/bin/$1"-[0-9]* "/usr/local/bin/$1"-[0-9]*; do
        case $c in *[!0-9]) ;; *) [ ! -x "$c" ] || echo "${c##*/}" ;; esac
    done
}
named() { case $1 in cc|c++) ;; *) echo "$1" ;; esac; }
# one compiler: two kinds of ASan do not go into one process
if [ -n "$SAN_FLAGS" ] || [ -z "$MATRIX" ]; then
    ccs=$(echo "${CC:-cc}" | compilers) cxxs=$(echo "${CXX:-c++}" | compilers)
else
    ccs=$({ named "${CC:-cc}"; echo gcc; echo clang; versions gcc; versions clang; } | compilers)
    cxxs=$({ named "${CXX:-c++}"; echo g++; echo clang++; versions g++; versions clang++; } |
        compilers)
fi
[ -n "$ccs" ] || ccs=cc
export top ccs MATRIX SAN_FLAGS

# The slowest parts come first.
parts() {
    if [ "$MATRIX" = windows ]; then
        echo windows_runs
        echo windows_optimised -O2
        for example in examples/*.c; do
            case $example in
                *plugin.c|*device_info.c|*ipc_ring.c|*nccl_allreduce.c) ;;
                *) echo windows_example $example ;;
            esac
        done
        for std in c99 c11 c17 gnu99 gnu17; do echo windows_c $std; done
        ! have $mingw-g++ || for std in c++11 c++14 c++17 c++20; do echo windows_cxx $std; done
        return
    fi
    if [ -n "$MATRIX" ]; then
        for optimised in 'c99 -O2' 'c11 -O1' 'c17 -O3' 'gnu99 -Os'; do
            echo "$ccs" | sed "s|^|c_optimised $optimised |"
        done
        for optimised in 'c++11 -O2' 'c++20 -O3'; do echo "$cxxs" |
            sed "s|^|cxx_optimised $optimised |"; done
        echo "plugins $(echo "$ccs" | head -n 1)"
        echo "$ccs" | sed "s|^|symbols |"
    fi
    for part in c_programs c_warnings; do echo "$ccs" | sed "s|^|$part |"; done
    for std in c99 ${MATRIX:+c11 c17 c2x gnu99 gnu17}; do echo "$ccs" |
        sed "s|^|c_standard $std |"; done
    [ -z "$cxxs" ] || for part in cxx_programs cxx_warnings; do echo "$cxxs" | sed "s|^|$part |";
    done
    [ -z "$cxxs" ] || for std in c++11 ${MATRIX:+c++14 c++17 c++20 c++2b}; do
        echo "$cxxs" | sed "s|^|cxx_standard $std |"
    done
    [ -z "$MATRIX" ] || echo with_tcc
}
if [ "$MATRIX" = windows ]; then
    have $mingw-gcc || { echo "suite compile: 0 passed, 0 failed, 1 skipped: no $mingw-gcc"; exit; }
    have $mingw-g++ || skip "Windows: no $mingw-g++ on this machine"
elif [ -n "$MATRIX" ]; then
    for c in gcc clang g++ clang++; do have $c || skip "$c: not on this machine"; done
elif [ -z "$cxxs" ]; then skip "${CXX:-c++}: not on this machine"
fi
parts | grep -n '' | tr : ' ' >"$top/parts"
jobs=$(nproc 2>/dev/null || echo 2)
xargs -P $((jobs < 8 ? jobs : 8)) -I{} sh \
    -c 'exec sh tests/header/compile/run.sh part {}' <"$top/parts"
while read -r i part; do
    cat "$top/$i.said"
    read -r p f s <"$top/$i.counts" || { p=0 f=1 s=0; echo "failed: $part did not finish"; }
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done <"$top/parts"
echo "suite compile: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
