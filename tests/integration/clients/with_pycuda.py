"""pycuda, whose SourceModule compiles to a cubin. The first line after the imports lets it compile
to PTX, also in its own kernels (gpuarray, ElementwiseKernel, ReductionKernel, scans)."""
import functools
import sys

import numpy as np
import pycuda.compiler

pycuda.compiler.compile = functools.partial(pycuda.compiler.compile, target="ptx")

import pycuda.autoinit
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel

from common import check, device_is, finish, prints, same, says

SOURCE = """
#include <stdio.h>
__constant__ float scale[4];
__device__ int calls;
__global__ void add(float *c, const float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    if (i == 0) atomicAdd(&calls, 1);
}
__global__ void total(float *sum, const float *a, int n) {
    extern __shared__ float part[];
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x
        + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += a[i];
    part[threadIdx.x] = mine;
    for (int half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(sum, part[0]);
}
__global__ void transpose(float *to, const float *from, int rows, int columns) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < columns && y < rows) tile[threadIdx.y][threadIdx.x] = from[y * columns + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    if (x < rows && y < columns) to[y * rows + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void scaled(float *a) { a[threadIdx.x] *= scale[threadIdx.x % 4]; }
__global__ void sums_of_warps(float *to, const float *from) {
    float v = from[threadIdx.x];
    for (int step = 16; step; step /= 2) v += __shfl_down_sync(0xffffffff, v, step);
    if (threadIdx.x % 32 == 0) to[threadIdx.x / 32] = v;
}
__global__ void greet() { printf("thread %d says %g\\n", threadIdx.x, 1.5); }
__global__ void wild(int *a) { a[1 << 20] = 1; }
"""


def main():
    device_is(cuda.Device(0).name())
    module = SourceModule(SOURCE)
    kernel = module.get_function
    random = np.random.default_rng(7)

    if sys.argv[1:] == ["greet"]:
        kernel("greet")(block=(2, 1, 1))
        cuda.Context.synchronize()
        return
    if sys.argv[1:] == ["wild"]:
        kernel("wild")(cuda.mem_alloc(4096), block=(1, 1, 1))
        cuda.Context.synchronize()
        return

    a, b = random.random((2, 10007), dtype=np.float32)
    c = np.empty_like(a)
    n = np.int32(a.size)
    kernel("add")(cuda.Out(c), cuda.In(a), cuda.In(b), n, block=(128, 1, 1), grid=(79, 1))
    same("vector add", c, a + b)

    result = np.zeros(1, np.float32)
    kernel("total")(cuda.InOut(result), cuda.In(a), n, block=(256, 1, 1), grid=(4, 1), shared=1024)
    same("reduction", result[0], a.sum(dtype=np.float64), 1e-5)

    m = random.random((50, 70), dtype=np.float32)
    t = np.empty((70, 50), np.float32)
    kernel("transpose")(cuda.Out(t), cuda.In(m), np.int32(50), np.int32(70), block=(16, 16, 1),
        grid=(5, 4))
    same("transpose with a tile in shared memory", t, m.T)

    sums = np.empty(4, np.float32)
    kernel("sums_of_warps")(cuda.Out(sums), cuda.In(a), block=(128, 1, 1))
    same("sums of warps with shuffles", sums, a[:128].reshape(4, 32).sum(1), 1e-5)

    address, size = module.get_global("scale")
    cuda.memcpy_htod(address, np.array([1, 2, 3, 4], np.float32))
    v = np.ones(64, np.float32)
    kernel("scaled")(cuda.InOut(v), block=(64, 1, 1))
    same("constant memory", v, np.tile(np.arange(1, 5, dtype=np.float32), 16))

    stream, begin, end = cuda.Stream(), cuda.Event(), cuda.Event()
    pa, pb, pc = (cuda.pagelocked_empty(a.size, np.float32) for _ in range(3))
    pa[:], pb[:] = a, b
    da, db, dc = (cuda.mem_alloc(a.nbytes) for _ in range(3))
    add = kernel("add")
    add.prepare("PPPi")
    begin.record(stream)
    cuda.memcpy_htod_async(da, pa, stream)
    cuda.memcpy_htod_async(db, pb, stream)
    add.prepared_async_call((79, 1), (128, 1, 1), stream, dc, da, db, n)
    add.prepared_async_call((79, 1), (128, 1, 1), stream, dc, dc, db, n)
    cuda.memcpy_dtoh_async(pc, dc, stream)
    end.record(stream)
    end.synchronize()
    same("a stream of copies and prepared kernels", pc, a + b + b)
    check("two events measure it", end.time_since(begin) >= 0)
    calls = np.zeros(1, np.int32)
    cuda.memcpy_dtoh(calls, module.get_global("calls")[0])
    same("an atomic counter in a global variable", calls[0], 3)

    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    same("gpuarray", (2 * x - y / 4).get(), 2 * a - b / 4, 1e-6)
    same("ElementwiseKernel", elementwise(x, y), np.sqrt(a * a + b * b), 1e-6)
    dot = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]",
                          arguments="const float *x, const float *y")
    same("ReductionKernel", dot(x, y).get(), np.dot(a.astype(np.float64), b), 1e-5)
    integers = gpuarray.to_gpu(np.arange(1, 5001, dtype=np.int32))
    InclusiveScanKernel(np.int32, "a+b")(integers)
    same("InclusiveScanKernel", integers.get(), np.arange(1, 5001).cumsum())

    prints("printf in a kernel", "greet", "thread 0 says 1.5", "thread 1 says 1.5")
    says("a store beyond its array is an error", "wild", "illegal memory access", "4-byte store")
    finish()


def elementwise(x, y):
    z = gpuarray.empty_like(x)
    ElementwiseKernel("float *x, float *y, float *z", "z[i] = hypotf(x[i], y[i])")(x, y, z)
    return z.get()


main()
