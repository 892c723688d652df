/*  c++ examples/owners.cpp -o owners && ./owners

    C++: objects that end with their owner, in whatever way a function is left, and launches that
    take values. A class owns all that it needs on the device; members are destroyed in the reverse
    order of their declaration, so the context, which comes first, is closed last. Owners can be
    moved, so such objects can be in a std::vector.

    Prints:
        3 pipelines, each with its own stream: y[999] = 1999, 2998, 3997
        an exception left the function; its stream is destroyed
*/
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"
#include <cstdio>
#include <stdexcept>
#include <vector>

// y = a * x + y, one element in each thread
static const char ptx[] =
        ".version 7.0\n"
        ".target sm_70\n"
        ".address_size 64\n"
        ".visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n) {\n"
        "    .reg .pred %beyond;\n"
        "    .reg .b32  %i, %n, %block, %threads;\n"
        "    .reg .b64  %px, %py, %offset;\n"
        "    .reg .f32  %a, %x, %y;\n"
        "    mov.u32        %block, %ctaid.x;\n"
        "    mov.u32        %threads, %ntid.x;\n"
        "    mov.u32        %i, %tid.x;\n"
        "    mad.lo.u32     %i, %block, %threads, %i;\n"
        "    ld.param.u32   %n, [n];\n"
        "    setp.ge.u32    %beyond, %i, %n;\n"
        "    @%beyond ret;\n"
        "    mul.wide.u32   %offset, %i, 4;\n"
        "    ld.param.u64   %px, [x];\n"
        "    ld.param.u64   %py, [y];\n"
        "    add.u64        %px, %px, %offset;\n"
        "    add.u64        %py, %py, %offset;\n"
        "    ld.param.f32   %a, [a];\n"
        "    ld.global.f32  %x, [%px];\n"
        "    ld.global.f32  %y, [%py];\n"
        "    fma.rn.f32     %y, %a, %x, %y;\n"
        "    st.global.f32  [%py], %y;\n"
        "    ret;\n"
        "}\n";

namespace {
enum { n = 1000 };

void check(gpuexec_result result) {
    if (result != GPUEXEC_OK) throw std::runtime_error(gpuexec_error_text());
}

class pipeline {
    gpuexec_owner<gpuexec_stream> stream;
    gpuexec_kernel saxpy;    // ends with its module
    gpuexec_ptr x, y;        // memory ends with its context

public:
    pipeline(gpuexec_context ctx, gpuexec_module mod)
        : stream(gpuexec_stream_create(ctx, nullptr)), saxpy(gpuexec_kernel_get(mod, "saxpy")),
          x(gpuexec_alloc(ctx, n * sizeof(float))), y(gpuexec_alloc(ctx, n * sizeof(float))) {}

    gpuexec_stream on() const { return stream.get(); }

    // The first call that waits returns the first failure of all calls.
    float run(float a) {
        std::vector<float> ones(n, 1.0f), numbers(n);
        for (int i = 0; i < n; i++) numbers[static_cast<unsigned>(i)] = static_cast<float>(i);
        gpuexec_copy_in(stream.get(), x, numbers.data(), n * sizeof(float));
        gpuexec_copy_in(stream.get(), y, ones.data(), n * sizeof(float));
        gpuexec_launch(saxpy, stream.get(), gpuexec_grid_for(n, 256), a + 1, x, y, int(n));
        gpuexec_copy_out(stream.get(), ones.data(), y, n * sizeof(float));
        check(gpuexec_stream_sync(stream.get()));
        return ones.back();
    }
};

// Left by an exception: the stream is destroyed, and nothing is latched.
void leave_early(gpuexec_context ctx, gpuexec_stream &used) {
    const auto stream = gpuexec_own(gpuexec_stream_create(ctx, nullptr));
    used = stream.get();
    throw std::runtime_error("an exception left the function");
}
}    // namespace

int main() {
    try {
        const gpuexec_owner<gpuexec_context> ctx(gpuexec_context_open(0, nullptr));
        const auto mod = gpuexec_own(gpuexec_module_load(ctx.get(), ptx, 0, nullptr));
        std::vector<pipeline> pipelines;
        float last[3];
        for (int i = 0; i < 3; i++) pipelines.emplace_back(ctx.get(), mod.get());
        for (unsigned i = 0; i < 3; i++) {
            last[i] = pipelines[i].run(static_cast<float>(i + 1));
            if (last[i] != static_cast<float>((i + 2) * (n - 1) + 1))
                throw std::runtime_error("a wrong result");
        }
        std::printf("3 pipelines, each with its own stream: y[%d] = %g, %g, %g\n", n - 1,
                static_cast<double>(last[0]), static_cast<double>(last[1]),
                static_cast<double>(last[2]));
        gpuexec_stream used = { 0 };
        try {
            leave_early(ctx.get(), used);
        } catch (const std::exception &e) {
            std::printf("%s; its stream is %s\n", e.what(),
                    gpuexec_ok(used) ? "still there" : "destroyed");
            if (gpuexec_ok(used)) return 1;
        }
        check(gpuexec_take_error());
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return gpuexec_shutdown() != GPUEXEC_OK;
}
