# python3 torch_capture.py PLUGIN.so: a capture of PyTorch around calls of a plugin that uses
# gpuexec, and a capture of gpuexec around PyTorch's matrix product (cuBLAS), each replayed 100
# times. Exit code 77: no PyTorch, or no GPU for it.
import ctypes
import sys

try:
    import torch
    if not torch.cuda.is_available():
        raise ImportError("PyTorch finds no GPU")
except ImportError as error:
    print(error)
    sys.exit(77)

REPLAYS = 100
SIDE = 64
plugin = ctypes.CDLL(sys.argv[1])


def call(name, *arguments):
    function = getattr(plugin, name)
    function.restype = ctypes.c_char_p
    text = function(*arguments)
    if text:
        sys.exit(f"{name}:\n{text.decode()}")


def address(tensor):
    return ctypes.c_ulonglong(tensor.data_ptr())


def enqueue(stream, a, x, y):
    call("plugin_enqueue", ctypes.c_void_p(stream.cuda_stream), ctypes.c_float(a), address(x),
        address(y), x.numel())


torch.backends.cuda.matmul.allow_tf32 = False
x = torch.randint(-4, 5, (SIDE, SIDE), device="cuda").float()
y = torch.zeros(SIDE, SIDE, device="cuda")
identity = torch.eye(SIDE, device="cuda")
torch.mm(x, identity)                               # starts cuBLAS, which a capture forbids
call("plugin_open", b"kernels/saxpy.ptx")

for mode in "global", "thread_local", "relaxed":
    y.zero_()
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream, capture_error_mode=mode):
        y.mul_(1)
        enqueue(stream, 1, x, y)
        y.add_(x @ identity)
        enqueue(stream, 2, x, y)
    for _ in range(REPLAYS):
        graph.replay()
    torch.cuda.synchronize()
    if not torch.equal(y, x * (10 * REPLAYS)):
        sys.exit(f"a capture of PyTorch, {mode}: wrong results")
    print(f"PyTorch's capture, {mode}, around gpuexec: {REPLAYS} replays, right")

stream = torch.cuda.Stream()
product = torch.zeros(SIDE, SIDE, device="cuda")
with torch.cuda.stream(stream):
    torch.mm(x, x, out=product)                     # cuBLAS allocates its workspace
    y.zero_()
torch.cuda.synchronize()
with torch.cuda.stream(stream):
    native = ctypes.c_void_p(stream.cuda_stream)
    call("plugin_begin", native)
    torch.mm(x, x, out=product)
    y.add_(product)
    enqueue(stream, 1, x, y)
    call("plugin_end")
    call("plugin_replay", REPLAYS)
torch.cuda.synchronize()
if not torch.equal(y, (x @ x + 3 * x) * REPLAYS):
    sys.exit("a capture of gpuexec around PyTorch: wrong results")
print(f"gpuexec's capture around PyTorch's matrix product: {REPLAYS} replays, right")
call("plugin_close")
