# python3 peer.py NAME: for launch.c, pool.c and batch.c, which list the names. Prints "ready
# LIBRARY VERSION", or a reason; then, for each number it reads, it makes that many calls, and
# prints how many microseconds they took. A call of cupy or cuda.core launches an empty kernel with
# four parameters, which are created beforehand, as in an optimised loop; one of cupy-pair or
# torch-pair allocates and frees 64 KiB; one of cupy-frame or torch-frame allocates 32 x 32 MiB,
# frees them, and waits; one of cupy-graph or torch-graph replays a captured graph of 1,000 of these
# kernels, and the time includes a wait after all of them.
import sys
import time

SOURCE = 'extern "C" __global__ void four(float *, float *, int, float) {}'


def cupy():
    import cupy
    import numpy
    stream = cupy.cuda.Stream()
    kernel = cupy.RawKernel(SOURCE, "four")
    args = (cupy.zeros(1, cupy.float32), cupy.zeros(1, cupy.float32), numpy.int32(1000),
        numpy.float32(2))
    stream.use()

    def burst(count):
        begin = time.perf_counter()
        for _ in range(count):
            kernel((4,), (256,), args)
        end = time.perf_counter()
        stream.synchronize()
        return end - begin
    return burst, "CuPy " + cupy.__version__ + ", RawKernel"


def cuda_core():
    import cuda.core
    import numpy
    try:
        from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
    except ImportError:
        from cuda.core.experimental import Device, LaunchConfig, Program, ProgramOptions, launch
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    arch = "sm_" + "".join(str(n) for n in device.compute_capability)
    program = Program(SOURCE, code_type="c++", options=ProgramOptions(arch=arch))
    kernel = program.compile("cubin").get_kernel("four")
    config = LaunchConfig(grid=4, block=256)
    memory = device.allocate(8, stream=stream)
    args = (memory, memory, numpy.int32(1000), numpy.float32(2))

    def burst(count):
        begin = time.perf_counter()
        for _ in range(count):
            launch(stream, config, kernel, *args)
        end = time.perf_counter()
        stream.sync()
        return end - begin
    return burst, "cuda.core " + cuda.core.__version__



def four_of_cupy():
    import cupy
    import numpy
    kernel = cupy.RawKernel(SOURCE, "four")
    args = (cupy.zeros(1, cupy.float32), cupy.zeros(1, cupy.float32), numpy.int32(1000),
        numpy.float32(2))
    kernel((4,), (256,), args)
    cupy.cuda.Device().synchronize()
    return lambda: [kernel((4,), (256,), args) for _ in range(1000)]


def replays(replay, wait):
    def burst(count):
        begin = time.perf_counter()
        for _ in range(count):
            replay()
        wait()
        return time.perf_counter() - begin
    return burst


def cupy_graph():
    import cupy
    launch = four_of_cupy()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        launch()
        graph = stream.end_capture()
    return replays(lambda: graph.launch(stream),
        stream.synchronize), "CuPy " + cupy.__version__ + ", graph"


def torch_graph():                               # PyTorch's capture, with the kernel of CuPy
    import cupy
    import torch
    torch.cuda.init()
    launch = four_of_cupy()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            launch()
    return replays(graph.replay,
        torch.cuda.synchronize), "torch " + torch.__version__ + ", CUDAGraph"


def memory(library, allocate, wait, frame):
    def burst(count):
        begin = time.perf_counter()
        for _ in range(count):
            blocks = [allocate(32 << 20) for _ in range(32)] if frame else allocate(1 << 16)
            del blocks
            if frame:
                wait()
        end = time.perf_counter()
        wait()
        return end - begin
    return burst, library.__name__ + " " + library.__version__ + ", caching allocator"


def cupy_memory(frame):
    import cupy
    return memory(cupy, cupy.cuda.MemoryPool().malloc, cupy.cuda.Device().synchronize, frame)


def torch_memory(frame):
    import torch
    device = torch.device("cuda", 0)
    torch.cuda.init()
    return memory(torch, lambda size: torch.empty(size, dtype=torch.uint8, device=device),
                  torch.cuda.synchronize, frame)


try:
    burst, name = {"cupy": cupy, "cuda.core": cuda_core,
                   "cupy-pair": lambda: cupy_memory(False), "cupy-frame": lambda: cupy_memory(True),
                   "torch-pair": lambda: torch_memory(False),
                   "torch-frame": lambda: torch_memory(True),
                   "cupy-graph": cupy_graph, "torch-graph": torch_graph}[sys.argv[1]]()
    burst(10)
except Exception as e:
    # not installed, or no GPU: prints the reason, and launch.c continues without it
    print(type(e).__name__ + ": " + str(e).split("\n")[0], flush=True)
    sys.exit()
print("ready", name, flush=True)
for line in sys.stdin:
    print(burst(int(line)) * 1e6, flush=True)
