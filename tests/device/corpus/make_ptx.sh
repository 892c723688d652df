#!/bin/sh
# Generates ptx/NAME.sm_75.ptx and ptx/NAME.sm_90.ptx in this folder from NAME.cu, as nvcc writes
# them: nothing is lowered. Needs nvcc (NVCC=... chooses one). With names as arguments only those.
# The tests need only the committed files. A kernel that nvcc refuses for sm_75 has text for sm_90
# only. Compiled in a directory with a fixed name, which the debug sections contain; trailing blanks
# are removed.
set -u
cd "$(dirname "$0")" || exit 1
here=$PWD
NVCC=${NVCC:-nvcc}
command -v "$NVCC" >/dev/null 2>&1 ||
    { echo "make_ptx.sh: no nvcc here (NVCC=$NVCC): the committed texts are left as they are" >&2; \
    exit 3; }
work=/tmp/gpuexec-corpus                     # a fixed name: the PTX contains it
rm -rf "$work" && mkdir -p "$work" ptx || exit 1
trap 'rm -rf "$work"' EXIT
cp ./*.cu "$work" && cd "$work" || exit 1
status=0
for source in ${*:-*.cu}; do
    name=$(basename "$source" .cu)
    # -fmad=false: a * b + c rounds twice and fmaf(a, b, c) once, as in the host references
    case $name in
        debug) flags=-G ;;
        lineinfo) flags=-lineinfo ;;
        dynamic_parallelism) flags=-rdc=true ;;
        *) flags= ;;
    esac
    for sm in 75 90; do
        case $name.$sm in cluster.75 | bulk_copy.75 | tensor_copy.75) continue ;; esac
        "$NVCC" -ptx -arch=compute_$sm -fmad=false $flags "$name.cu" -o "$name.ptx" > log 2>&1 ||
            { echo "$name for sm_$sm:"; cat log; status=1; continue; }
        {
            echo "// Made from tests/device/corpus/$name.cu by tests/device/corpus/make_ptx.sh" \
                "for compute_$sm${flags:+ with $flags}. Do not edit."
            sed -e '/^\/\/$/d' -e 's/[ \t]*$//' "$name.ptx" | cat -s
        } > "$here/ptx/$name.sm_$sm.ptx"
    done
done
exit $status
