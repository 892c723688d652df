#!/bin/sh
# Runs programs of the CUDA driver API from PyPI on the CPU device: the scripts of this folder, each
# in a virtual environment with what that client needs (README.md).
#   clients.sh FOLDER [CLIENT...]   creates the environments in FOLDER; a second run uses them again
# Needs Python 3.11 or newer with venv and its headers, a C++ compiler, the network, and
# build/libsimgpu.so. Prints the checks that failed and one line per client; the last line is
# `suite clients: N passed, N failed, N skipped`.
cd "$(dirname "$0")/../../.." || exit 1
mkdir -p "$1/driver" && folder=$(cd "$1" && pwd) || exit 1
shift
[ $# -gt 0 ] || set -- pycuda numba numba-cuda cuda.core tinygrad
driver=$folder/driver
ln -sf "$PWD/build/libsimgpu.so" "$driver/libcuda.so.1"
ln -sf libcuda.so.1 "$driver/libcuda.so"                      # pycuda is linked with -lcuda, which
ln -sf libcuda.so.1 "$driver/libsimgpu.so"                    # records the library's own name

export LD_LIBRARY_PATH="$driver" PIP_CACHE_DIR="$folder/pip" PIP_DISABLE_PIP_VERSION_CHECK=1 \
    SIMGPU_COUNT=1
export PYTHONDONTWRITEBYTECODE=1
unset CUDA_HOME CUDA_PATH PYTHONPATH NUMBA_ENABLE_CUDASIM NUMBA_CUDA_DRIVER GPUEXEC_DRIVER

# install PACKAGE...: into the environment of $client, unless it has them from an earlier run. NumPy
# is what the scripts compare with.
install() {
    home=$folder/$client
    [ -x "$home/bin/python" ] || python3 -m venv "$home"
    nvidia=$("$home/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/nvidia
    [ "$(cat "$home/installed" 2>/dev/null)" != "$*" ] || return 0
    "$home/bin/pip" install -q numpy==2.4.6 "$@"
    echo "$*" >"$home/installed"
}
script() { timeout 300 "$home/bin/python" "tests/integration/clients/$@"; }

# The target built into numba does not know pip's folders: CUDA_HOME has links to them, and the
# loader finds libnvvm.so.
numba() {
    install numba==0.68.1 llvmlite==0.50.0 nvidia-cuda-nvcc-cu12==12.9.86 \
        nvidia-cuda-runtime-cu12==12.9.79
    mkdir -p "$home/cuda"
    ln -sfn "$nvidia/cuda_nvcc/nvvm" "$home/cuda/nvvm"
    ln -sfn "$nvidia/cuda_runtime/lib" "$home/cuda/lib64"
    export CUDA_HOME="$home/cuda" LD_LIBRARY_PATH="$driver:$home/cuda/nvvm/lib64"
    script with_numba.py Built-in
}
# With nvJitLink, these two link to a cubin; without, the driver links. The empty file hides one
# that this machine may have.
hide_nvjitlink() {
    mkdir -p "$home/hidden"
    : >"$home/hidden/libnvJitLink.so.13"
    export LD_LIBRARY_PATH="$driver:$home/hidden"
}
numba_cuda() {
    install numba-cuda==0.30.4 numba==0.68.1 llvmlite==0.50.0 cuda-core==1.2.2 \
        cuda-bindings==13.5.0 \
        cuda-pathfinder==1.9.0 packaging==26.3 nvidia-cuda-nvrtc==13.0.88 nvidia-nvvm==13.0.88 \
        nvidia-cuda-runtime==13.0.96
    hide_nvjitlink
    script with_numba.py NVIDIA
}
cuda_core() {
    install cuda-core==1.2.2 cuda-bindings==13.5.0 cuda-pathfinder==1.9.0 nvidia-cuda-nvrtc==13.0.88
    hide_nvjitlink
    script with_cuda_core.py
}
# pycuda has no binary package: it is compiled here, without optimization, which takes a third of
# the time.
pycuda() {
    install setuptools==80.9.0 wheel==0.48.0 packaging==26.3 mako==1.4.3 MarkupSafe==3.0.4 \
        pytools==2026.1.1 \
        siphash24==1.9 typing_extensions==4.16.0 platformdirs==4.14.7 \
        nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 \
            nvidia-cuda-runtime==13.0.96 \
        nvidia-cuda-profiler-api==13.0.85
    export PATH="$nvidia/cu13/bin:$PATH" PYCUDA_CACHE_DIR="$home/cache"
    mkdir -p "$PYCUDA_CACHE_DIR"
    if [ ! -e "$home/built" ]; then
        printf '%s\n' "CUDADRV_LIB_DIR = ['$driver']" 'CUDA_ENABLE_CURAND = False' \
            "CXXFLAGS = ['-O0', '-g0', '-w']" \
            >"$home/.aksetup-defaults.py"
        HOME=$home "$home/bin/pip" install -q --no-build-isolation --no-deps pycuda==2026.1
        : >"$home/built"
    fi
    script with_pycuda.py
}
# JIT=2: no graphs; TC=0: no tensor cores.
tinygrad() {
    install tinygrad==0.14.0
    export DEV=CUDA:PTX JIT=2 TC=0 SIMGPU_DEVICES=2 CACHELEVEL=0
    script with_tinygrad.py
}

# one CLIENT: in a subshell, whose log and time stay in the folder.
one() {
    client=$1 start=$(date +%s)
    (set -e; "$(echo "$client" | tr .- __)") >"$folder/$client.log" 2>&1
    echo $? $(($(date +%s) - start)) >"$folder/$client.result"
}

# Those that compile run beside the others.
wanted=" $* "
case $wanted in *" pycuda "*) one pycuda & ;; esac
for client; do [ "$client" = pycuda ] || one "$client"; done
wait

passed=0 failed=0
for client; do
    read -r code seconds <"$folder/$client.result"
    counts=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$folder/$client.log")
    p=${counts% *} f=${counts#* }
    if [ -z "$counts" ]; then
        sed 's/^/    /' "$folder/$client.log" | tail -n 40
        p=$(grep -c '^PASS ' "$folder/$client.log") f=1
        echo "$client: ended with exit code $code"
    fi
    grep '^FAIL ' "$folder/$client.log"
    echo "$client: $p passed, $f failed ($seconds s)"
    passed=$((passed + p)) failed=$((failed + f))
done
echo "suite clients: $passed passed, $failed failed, 0 skipped"
[ $failed -eq 0 ]
