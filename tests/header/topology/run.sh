#!/bin/sh
# Compares gpuexec_topology_text with `nvidia-smi topo -m`: where nvidia-smi says NV<links>, the
# text must say NVLink, and elsewhere it must not; a pair with more links must not have a worse
# rank. Needs two GPUs and nvidia-smi. On every machine, the comparison itself is tested with
# topologies of the CPU device and what nvidia-smi would print for them.
cd "$(dirname "$0")/../../.." || exit 1
build=${BUILD:-build}
out=$(mktemp -d "${TMPDIR:-/tmp}/gpuexec-topology-XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
cat > "$out/topology.c" <<'C'
#include "gpuexec.h"
#include <stdio.h>
int main(void) {
    static char text[100000];
    if (gpuexec_topology_text(text, sizeof text) == 0) fputs(gpuexec_error_text(), stderr);
    fputs(text, stdout);
    gpuexec_shutdown();
    return !*text;
}
C
${CC:-cc} -std=c99 -I. -DGPUEXEC_IMPLEMENTED "$out/topology.c" ${SAN_FLAGS:-} \
    "$build/implementation.o" -o "$out/topology" -ldl -lpthread ||
    { echo "suite topology: 0 passed, 1 failed, 0 skipped"; exit 1; }
passed=0 failed=0 skipped=0

# same SMI OURS: prints each pair that differs, then how many pairs there are.
same() {
    esc=$(printf '\033')
    sed "s/$esc\\[[0-9;]*m//g" "$1" | awk '
        BEGIN { gpus = rows = pairs = 0 }
        FNR == NR {                                      # of nvidia-smi
            if (/^GPU[0-9]+[ \t]/) for (i = 2; i <= NF; i++) smi[gpus, i - 2] = $i
            gpus += /^GPU[0-9]+[ \t]/
            next
        }
        /^ +[0-9]+ +(-|no|NVLink|PCIe)/ {    # of gpuexec: a cell is "-", "no", or a name and a rank
            k = 0
            for (i = 2; i <= NF; i++) {
                if ($i == "NVLink" ||
                    $i == "PCIe") { rank[rows, k] = $(i + 1) + 0; is[rows, k++] = $(i++) }
                else is[rows, k++] = $i
            }
            if (k != gpus) print "row " rows " has " k " devices, nvidia-smi " gpus
            rows++
        }
        END {
            if (rows != gpus) print "there are " rows " devices, nvidia-smi has " gpus
            for (a = 0; a < gpus; a++) for (b = 0; b < gpus; b++) if (a != b) {
                pairs++
                if ((smi[a, b] ~ /^NV[0-9]/) != (is[a, b] == "NVLink") || smi[a, b] == "" ||
                    smi[a, b] == "X")
                    print "devices " a " and " b ": " is[a, b] " here, " smi[a, b] " in nvidia-smi"
                for (c = 0; c < gpus; c++) {
                    more = substr(smi[a, b], 3) + 0; fewer = substr(smi[a, c], 3) + 0
                    if (is[a, b] == "NVLink" && is[a, c] == "NVLink" && more > fewer &&
                        rank[a, b] > rank[a, c])
                        print "devices " a " and " b ": rank " rank[a, b] ", but " rank[a, c] \
                            " with device " c
                }
            }
            print pairs
        }' - "$2"
}
# compare NAME WANTED SMI OURS: WANTED is `same` or `differs`.
compare() {
    same "$3" "$4" > "$out/same"
    pairs=$(tail -n 1 "$out/same")
    result=same
    [ "$(wc -l < "$out/same")" -eq 1 ] || result=differs
    if [ "${pairs:-0}" -gt 0 ] && [ $result = "$2" ]
    then passed=$((passed + 1)); [ -z "${TEST_VERBOSE:-}" ] || cat "$3" "$4"
    else failed=$((failed + 1)); echo "failed: $1"; sed 's/^/    /' "$out/same" "$3" "$4"; fi
}

# smi A B C: what nvidia-smi prints for three GPUs; A: the link of 0 and 1, B: of 0 and 2, C: of 1
# and 2
smi() {
    printf '\t\033[4mGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\n'
    printf 'GPU0\t X \t%s\t%s\tSYS\t0-15\t0\t\tN/A\n' "$1" "$2"
    printf 'GPU1\t%s\t X \t%s\tSYS\t0-15\t0\t\tN/A\n' "$1" "$3"
    printf 'GPU2\t%s\t%s\t X \tPIX\t0-15\t0\t\tN/A\n' "$2" "$3"
    printf 'NIC0\tSYS\tSYS\tPIX\t X\t\t\t\t\n\nLegend:\n\n  X    = Self\n'
}
simgpu=$PWD/$build/libsimgpu.so
case $build in /*) simgpu=$build/libsimgpu.so ;; esac
if [ -e "$simgpu" ]; then
    plays() { # PEERS WANTED A B C
        smi "$3" "$4" "$5" > "$out/smi"
        SIMGPU_DEVICES=3 SIMGPU_PEERS=$1 GPUEXEC_DRIVER=$simgpu "$out/topology" > "$out/ours"
        compare "SIMGPU_PEERS=$1 beside $3 $4 $5" "$2" "$out/smi" "$out/ours"
    }
    plays all same NV18 NV18 NV18
    plays pcie same PIX NODE SYS
    plays mixed same NV4 PHB SYS
    plays pairs same NV4 PHB SYS
    plays none same PHB PHB SYS
    plays all differs NV18 NV18 SYS
    plays mixed differs NV4 NV4 SYS
    plays none differs NV12 PHB SYS
fi

gpus=$(env -u GPUEXEC_DRIVER -u CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER=PCI_BUS_ID "$out/topology" \
    2>/dev/null > "$out/ours" && sed -n 1p "$out/ours" | wc -w)
if [ "${gpus:-0}" -lt 2 ]; then skipped=1; echo "  skipped: nvidia-smi topo -m: needs two GPUs"
elif ! nvidia-smi topo -m > "$out/smi" 2>&1; 
then skipped=1; echo "  skipped: no nvidia-smi topo -m on this machine"
else compare "nvidia-smi topo -m" same "$out/smi" "$out/ours"; fi
echo "suite topology: $passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
