#!/bin/sh
# made.sh DIRECTORY: writes inputs into DIRECTORY/HARNESS. They start the corpus and are always
# replayed: lists of calls and kernels from pseudo-random bytes, the same on every machine, and the
# regressions that are too large to keep.
out=$1
bytes() { # SEED HOW-MANY, after the earlier output
    LC_ALL=C awk -v x="$1" -v n="$2" 'BEGIN {
        x = x * 7919 + 1
        for (; n > 0; n--) {
            x = x * 16807 % 2147483647
            printf "\\%03o", int(x / 256) % 256
        }
    }'
}
for harness in executor params handles driver cache; do
    mkdir -p "$out/$harness"
    for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
        case $harness in executor) first= ;; params) first="\\00$((seed % 8))" ;; *) \
            first="\\00$((seed % 4))" ;; esac
        printf "$first$(bytes $seed 300)" > "$out/$harness/made_$seed"
    done
done

mkdir -p "$out/parser"
head='.version 8.0\n.target sm_90\n.address_size 64\n'
awk -v head="$head" 'BEGIN {         # parameters of a little over 4 GiB: their size in 32 bits is 4
    printf head ".entry k("; for (i = 0; i < 4096; i++) printf ".param .align 1048576 .b8 a%d,", i
    print ".param .b32 z) { .reg .u32 %r; ld.param.u32 %r, [z]; ret; }" }' \
        > "$out/parser/parameters_beyond_4_GiB"
awk -v head="$head" 'BEGIN {                # the same for a function: a call of it overwrote memory
    printf head ".func f("; for (i = 0; i < 4096; i++) printf ".param .b8 a%d[1048576],", i
    print ".param .b32 z) { ret; }"
    printf ".entry k() { .param .b8 x[1048576]; .param .b32 y; call f, (";
    for (i = 0; i < 4096; i++) printf "x,"
    print "y); ret; }" }' > "$out/parser/arguments_beyond_4_GiB"
awk -v head="$head" 'BEGIN {                          # was a recursion for each call
    printf head
    for (i = 0; i <= 50000; i++) print ".func f" i "();"
    for (i = 0; i < 50000; i++) print ".func f" i "() { call f" i + 1 "; ret; }"
    print ".func f50000() { ret; }\n.entry k() { call f0; ret; }" }' \
        > "$out/parser/calls_nested_50000_deep"
awk -v head="$head" 'BEGIN {                          # was visited once for each of 2^40 paths
    printf head; for (i = 0; i <= 40; i++) print ".func f" i "();"
    for (i = 0; i <= 40; i++) {
        printf ".func f" i "() {"
        for (j = i + 1; j <= 40; j++) printf " call f%d;", j
        print " ret; }"
    }
    print ".entry k() { call f0; ret; }" }' > "$out/parser/functions_that_call_all_later_ones"

# A fatbin with one PTX, in a file, as link input, and in an object's section; the first byte
# selects (fatbin.c).
mkdir -p "$out/fatbin"
text='.version 7.0\n.target sm_70\n.address_size 64\n.entry k() { ret; }\n\0\0\0\0\0\0\0\0'
zeros() { awk -v n="$1" 'BEGIN { for (; n > 0; n--) printf "\\000" }'; }
entry="\\120\\355\\125\\272\\001\\000\\020\\000\\210$(zeros 7)"
entry="$entry\\001\\000\\001\\001\\100$(zeros 3)\\110$(zeros 7)"
entry="$entry$(zeros 12)\\106$(zeros 11)\\021$(zeros 23)$text"
for how in 0 1 2 3; do printf "\\00$how$entry" > "$out/fatbin/made_$how"; done
{
    printf '\002\177ELF\002\001'; printf "$(zeros 34)\\100$(zeros 17)\\100\\000\\002\\000\\001\\000"
    printf "$(zeros 24)\\300$(zeros 7)\\230$(zeros 31)\\001"
    printf "$(zeros 23)\\130\\001$(zeros 6)\\014$(zeros 31)"
    printf "$entry"; printf '.nv_fatbin\0\0'
} > "$out/fatbin/object"

# Forty calls of the device runtime (nested.c): the bytes only have to differ.
mkdir -p "$out/nested"
for step in 37 101 173; do
    printf "$(awk -v step=$step \
        'BEGIN { for (i = 1; i < 500; i++) printf "\\%03o", i * step % 251 }')" \
        > "$out/nested/calls_$step"
done
