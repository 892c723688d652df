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

# What reads and writes the executor's textures and surfaces.
mkdir -p "$out/executor"
for first in parser executor; do cat > "$out/$first/images" <<'END'
.version 8.5
.target sm_90
.address_size 64
.global .texref tx;
.global .surfref su;
.entry k(.param .u64 p, .param .align 16 .b8 st[32], .param .u32 n) {
.reg .b32 %r<16>; .reg .b64 %d<4>; .reg .b16 %h<4>; .reg .f32 %f<8>; .reg .pred %p<4>;
mov.u32 %r0, %tid.x; cvt.rn.f32.u32 %f0, %r0; mul.f32 %f1, %f0, 0f3E000000;
mov.f32 %f2, 0f3F000000;
mov.u64 %d0, 1; mov.u64 %d1, 2; mov.u64 %d2, 3; mov.u64 %d3, 4; and.b32 %r1, %r0, 3;
shl.b32 %r2, %r0, 3;
L0: tex.2d.v4.f32.f32 {%f4,%f5,%f6,%f7}, [tx, {%f0,%f1}];
L1: tex.2d.v4.s32.s32 {%r4,%r5,%r6,%r7}, [%d0, {%r0,%r1}], {%r1,%r1};
L2: tex.a2d.v4.u32.f32 {%r4,%r5,%r6,%r7}, [%d1, {%r1,%f0,%f1,%f1}];
L3: tex.level.cube.v4.f32.f32 {%f4,%f5,%f6,%f7}, [%d2, {%f0,%f1,%f2,%f2}], %f1;
L4: tex.grad.cube.v4.f32.f32 {%f4,%f5,%f6,%f7}, [%d2, {%f0,%f1,%f2,%f2}],
{%f1,%f2,%f0,%f0}, {%f2,%f2,%f1,%f1};
L5: tex.grad.2d.v4.f32.f32 {%f4,%f5,%f6,%f7}|%p1, [%d0, {%f0,%f1}], {%f1,%f2}, {%f2,%f1}, {%r1,%r1};
L6: tex.1d.v2.f16x2.s32 {%r4,%r5}, [%d3, {%r0}];
L7: tld4.g.2d.v4.f32.f32 {%f4,%f5,%f6,%f7}, [%d0, {%f1,%f0}], {%r1,%r1};
L8: txq.width.b32 %r8, [tx]; txq.level.height.b32 %r8, [%d2], %r1;
L9: txq.num_mipmap_levels.b32 %r8, [%d2]; txq.addr_mode_0.b32 %r8, [%d0];
mov.u64 %d0, 5; mov.u64 %d1, 6; mov.u64 %d2, 7; mov.u64 %d3, 8;
L10: sust.b.2d.v2.b32.zero [su, {%r2,%r1}], {%r4,%r5};
L11: suld.b.2d.v4.b8.clamp {%h0,%h1,%h2,%h3}, [%d0, {%r2,%r1}];
L12: sust.b.a2d.b32.zero [%d1, {%r1,%r2,%r1,%r1}], %r4; suld.b.1d.b16.zero %h0, [%d3, {%r2}];
L13: sust.p.2d.v4.b32.clamp [%d0, {%r2,%r1}], {%r4,%r5,%r6,%r7};
L14: suld.b.3d.b64.zero %d3, [%d2, {%r2,%r1,%r1,%r1}]; mov.u64 %d3, 8;
L15: sured.b.add.2d.u32.zero [%d0, {%r2,%r1}], %r4;
sured.p.min.3d.b32.clamp [%d2, {%r2,%r1,%r1,%r1}], %r5;
L16: suq.width.b32 %r8, [su]; suq.array_size.b32 %r8, [%d1];
L17: istypep.texref %p2, %d0; istypep.surfref %p2, %d3;
ret; }
END
done

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
