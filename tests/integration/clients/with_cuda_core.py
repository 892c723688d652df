"""cuda.core, the Python interface to CUDA from NVIDIA: Program.compile("ptx"), not "cubin"."""
import sys

import numpy as np
from cuda.core import Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Linker, \
    LinkerOptions, Program, ProgramOptions, launch
from cuda.core._utils.cuda_utils import CUDAError

from common import check, device_is, finish, prints, same, says

SOURCE = """
template<typename T> __global__ void add(T *c, const T *a, const T *b, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void total(float *sum, const float *a, size_t n) {
    extern __shared__ float part[];
    float mine = 0;
    for (size_t i = blockIdx.x * blockDim.x
        + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += a[i];
    part[threadIdx.x] = mine;
    for (int half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}
extern "C" __global__ void transpose(float *to, const float *from, int rows, int columns) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = from[y * columns + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    if (x < rows && y < columns) to[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
extern "C" __global__ void ranks(unsigned *to) {
    unsigned rank, blocks;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    to[blockIdx.x] = 100 * blocks + rank;
}
extern "C" __global__ void greet() { printf("thread %d says %g\\n", threadIdx.x, 1.5); }
extern "C" __global__ void wild(int *a) { a[1 << 20] = 1; }
"""

device = Device()
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()


def compiled(source, **options):
    program = Program(source, "c++",
        ProgramOptions(std="c++17", arch=f"sm_{device.arch}", **options))
    return program.compile("ptx", name_expressions=("add<float>", "add<double>") if "add(" in source
        else ())


def on_device(values):
    """A device buffer with these values."""
    staged, buffer = pinned.allocate(values.nbytes), device.allocate(values.nbytes, stream=stream)
    np.from_dlpack(staged).view(values.dtype)[:] = values.ravel()
    staged.copy_to(buffer, stream=stream)
    stream.sync()
    return buffer


def on_host(buffer, dtype):
    staged = pinned.allocate(buffer.size)
    buffer.copy_to(staged, stream=stream)
    stream.sync()
    return np.from_dlpack(staged).view(dtype).copy()


def main():
    device_is(device.name)
    code = compiled(SOURCE)
    check("the code is PTX", code.code_type == "ptx" and b".visible .entry" in code.code)

    if sys.argv[1:] == ["greet"]:
        launch(stream, LaunchConfig(grid=1, block=2), code.get_kernel("greet"))
        stream.sync()
        return
    if sys.argv[1:] == ["wild"]:
        launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("wild"),
            on_device(np.zeros(8, np.int32)))
        stream.sync()
        return

    random = np.random.default_rng(7)
    for dtype, name in (np.float32, "add<float>"), (np.float64, "add<double>"):
        a, b = random.random((2, 10007)).astype(dtype)
        n, c = np.uint64(a.size), on_device(np.zeros_like(a))
        launch(stream, LaunchConfig(grid=40, block=256), code.get_kernel(name), c, on_device(a),
            on_device(b), n)
        same(f"vector add with the template {name}", on_host(c, dtype), a + b)

    sum = on_device(np.zeros(1, np.float32))
    a = random.random(10007, dtype=np.float32)
    config = LaunchConfig(grid=4, block=256, shmem_size=1024)
    launch(stream, config, code.get_kernel("total"), sum, on_device(a), n)
    same("reduction", on_host(sum, np.float32)[0], a.sum(dtype=np.float64), 1e-5)

    m = random.random((50, 70), dtype=np.float32)
    t = on_device(np.zeros_like(m))
    transpose = code.get_kernel("transpose")
    launch(stream, LaunchConfig(grid=(5, 4), block=(16, 16)), transpose, t, on_device(m),
        np.int32(50), np.int32(70))
    same("transpose with a tile in shared memory", on_host(t, np.float32).reshape(70, 50), m.T)
    check("its attributes", transpose.attributes.shared_size_bytes == 16 * 17 * 4
        and transpose.num_arguments == 4 and
          transpose.occupancy.max_active_blocks_per_multiprocessor(256, 0) > 0)

    options = EventOptions(timing_enabled=True)
    other, da, dc = device.create_stream(), on_device(a), on_device(a)
    begin = stream.record(options=options)
    launch(stream, LaunchConfig(grid=40, block=256), code.get_kernel("add<float>"), dc, da, da, n)
    end = stream.record(options=options)
    other.wait(end)
    launch(other, LaunchConfig(grid=40, block=256), code.get_kernel("add<float>"), dc, dc, da, n)
    other.sync()
    same("two streams and an event", on_host(dc, np.float32), a + a + a)
    check("two events measure it", end - begin >= 0)

    caller = compiled('extern "C" __device__ float twice(float);\n'
                      'extern "C" __global__ void k(float *a) '
                      '{ a[threadIdx.x] = twice(a[threadIdx.x]); }',
                      relocatable_device_code=True)
    called = compiled('extern "C" __device__ float twice(float x) { return 2 * x; }',
        relocatable_device_code=True)
    linked = Linker(caller, called, options=LinkerOptions(arch=f"sm_{device.arch}")).link("cubin")
    v = on_device(a[:64])
    launch(stream, LaunchConfig(grid=1, block=64), linked.get_kernel("k"), v)
    same("two programs linked by the driver", on_host(v, np.float32), 2 * a[:64])

    r = on_device(np.zeros(12, np.uint32))
    launch(stream, LaunchConfig(grid=3, cluster=4, block=32), code.get_kernel("ranks"), r)
    same("clusters of 4 blocks", on_host(r, np.uint32), np.tile([400, 401, 402, 403], 3))

    try:
        code.get_kernel("missing")
        check("a kernel that is missing", False, "was found")
    except CUDAError as error:
        check("a kernel that is missing", "CUDA_ERROR_NOT_FOUND" in str(error), error)
    prints("printf in a kernel", "greet", "thread 0 says 1.5", "thread 1 says 1.5")
    says("a store beyond its array is error 700", "wild", "CUDA_ERROR_ILLEGAL_ADDRESS",
        "4-byte store")
    finish()


main()
