// values.cpp - C++ passes values of any trivially copyable type to a launch, including rvalues;
// code written for C also works.
#include "../../../gpuexec.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

static const char ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry put(.param .u64 out, .param .u32 a, .param .f64 b, "
                          ".param .align 4 .b8 c[8])\n"
                          "{ .reg .u64 %rd; .reg .u32 %r<3>; .reg .f64 %d; ld.param.u64 %rd, "
                          "[out]; cvta.to.global.u64 %rd, %rd;\n"
                          "  ld.param.u32 %r0, [a]; st.global.u32 [%rd], %r0; ld.param.f64 %d, "
                          "[b]; st.global.f64 [%rd+8], %d;\n"
                          "  ld.param.u32 %r1, [c]; ld.param.u32 %r2, [c+4]; st.global.u32 "
                          "[%rd+16], %r1; st.global.u32 [%rd+20], %r2; ret; }\n"
                          ".visible .entry last(.param .align 64 .b8 map[128], .param .u64 out)\n"
                          "{ .reg .u64 %a, %b; ld.param.u64 %a, [map+120]; ld.param.u64 %b, "
                          "[out]; st.global.u64 [%b], %a; ret; }\n"
                          ".visible .entry nothing() { ret; }\n";

namespace {
struct pair {
    int x;
    float y;
};
enum class kind { first, second };
struct result {
    unsigned a, unused;
    double b;
    pair c;
};
struct odd {
    int value;
    odd *operator&() = delete;
};    // has no address by & : still a value

void check(bool ok, int line) {
    if (ok) return;
    std::printf("values.cpp:%d is wrong; %s", line, gpuexec_error_text());
    std::exit(1);
}

// One launch over several devices, whose arguments are made in a loop.
void several_devices() {
    const int all = gpuexec_device_count(), n = all < 4 ? all : 4;
    gpuexec_device_launch launches[4] = {};
    gpuexec_values<gpuexec_ptr, unsigned, double, pair> values[4], copy;
    gpuexec_ptr out[4] = {};
    for (int i = 0; i < n; i++) {
        const gpuexec_context ctx = gpuexec_context_open(i, nullptr);
        out[i] = gpuexec_alloc(ctx, sizeof(result));
        launches[i].kernel = gpuexec_kernel_get(gpuexec_module_load(ctx, ptx, 0, nullptr), "put");
        launches[i].stream = gpuexec_stream_create(ctx, nullptr);
        launches[i].dims = gpuexec_grid(1, 1, 0);
        values[i] = gpuexec_values_of(
                out[i], 10u + static_cast<unsigned>(i), 0.5 * i, pair{ i, 8.0f });
        launches[i].args = values[i].args();
    }
    check(gpuexec_launch_multi_device(launches, static_cast<unsigned>(n), nullptr) == GPUEXEC_OK,
            __LINE__);
    for (int i = 0; i < n; i++) {
        result got = {};
        gpuexec_copy_out(launches[i].stream, &got, out[i], sizeof got);
        check(gpuexec_stream_sync(launches[i].stream) == GPUEXEC_OK, __LINE__);
        check(got.a == 10u + static_cast<unsigned>(i) && got.c.x == i && got.c.y > 7.9f, __LINE__);
        check(got.b > 0.5 * i - 0.1 && got.b < 0.5 * i + 0.1, __LINE__);
    }
    copy = values[0];    // the arguments of a copy are the copy's
    values[0] = gpuexec_values_of(out[0], 99u, 1.0, pair{ 9, 9.0f });
    result got = {};
    const gpuexec_device_launch &first = launches[0];
    check(gpuexec_launch(first.kernel, first.stream, first.dims, copy.args()) == GPUEXEC_OK,
            __LINE__);
    gpuexec_copy_out(launches[0].stream, &got, out[0], sizeof got);
    check(gpuexec_stream_sync(launches[0].stream) == GPUEXEC_OK && got.a == 10 && got.c.x == 0,
            __LINE__);
    gpuexec_values<gpuexec_ptr, float, double, pair> wrong = gpuexec_values_of(
            out[0], 1.0f, 1.0, pair{ 9, 9.0f });
    launches[0].args = wrong.args();
    check(gpuexec_launch_multi_device(launches, 1, nullptr) == GPUEXEC_BAD_PARAMETERS, __LINE__);
    check(std::strstr(
                  gpuexec_error_text(), "argument 1 (counted from 0) of kernel \"put\" is a float"),
            __LINE__);
    gpuexec_take_error();
}

// A gpuexec_values instead of a gpuexec_args, in every call that takes one.
void held_values(gpuexec_context ctx, gpuexec_stream s, gpuexec_kernel fn, gpuexec_ptr out) {
    const gpuexec_dims one = gpuexec_grid(1, 1, 0);
    const gpuexec_values<gpuexec_ptr, unsigned, double, pair> fixed(out, 31u, 0.5, pair{ 2, 1.0f });
    gpuexec_values<gpuexec_ptr, unsigned, double, pair> held = fixed;
    gpuexec_launch_desc attributes = {};
    gpuexec_device_launch launch = {};
    unsigned last = 0;
    const auto expect = [&](unsigned a) {
        result got = {};
        gpuexec_copy_out(s, &got, out, sizeof got);
        check(gpuexec_stream_sync(s) == GPUEXEC_OK && got.a == a && got.c.x == 2, __LINE__);
        gpuexec_fill(s, out, 0, 1, sizeof got);
        held = gpuexec_values_of(out, ++last, 0.5, pair{ 2, 1.0f });
    };
    attributes.cooperative = 1;
    check(gpuexec_launch(fn, s, one, fixed) == GPUEXEC_OK, __LINE__);
    expect(31);
    check(gpuexec_launch(fn, s, one, held) == GPUEXEC_OK, __LINE__);
    expect(1);
    check(gpuexec_launch(fn, s, one, gpuexec_values_of(out, 32u, 0.5, pair{ 2, 1.0f })) ==
                    GPUEXEC_OK,
            __LINE__);
    expect(32);
    check(gpuexec_launch_cooperative(fn, s, one, held) == GPUEXEC_OK, __LINE__);
    expect(3);
    check(gpuexec_launch_with(fn, s, one, &attributes, held) == GPUEXEC_OK, __LINE__);
    expect(4);
    check(gpuexec_launch_prepared(gpuexec_prepare(fn, s, one, held)) == GPUEXEC_OK, __LINE__);
    expect(5);
    check(gpuexec_launch_prepared(gpuexec_prepare_with(fn, s, one, &attributes, held)) ==
                    GPUEXEC_OK,
            __LINE__);
    expect(6);
    const gpuexec_graph graph = gpuexec_graph_create(ctx);
    gpuexec_node node = gpuexec_graph_add_kernel(graph, fn, one, fixed, GPUEXEC_FIRST);
    node = gpuexec_graph_add_kernel_with(graph, fn, one, &attributes, held, GPUEXEC_AFTER(node));
    check(gpuexec_graph_launch(graph, s) == GPUEXEC_OK, __LINE__);
    expect(7);
    check(gpuexec_node_set_args(node, held) == GPUEXEC_OK, __LINE__);
    check(gpuexec_graph_launch(graph, s) == GPUEXEC_OK, __LINE__);
    expect(8);
    const gpuexec_batch batch = gpuexec_batch_create(ctx, nullptr);
    check(gpuexec_batch_add(batch, fn, one, fixed) == 0, __LINE__);
    check(gpuexec_batch_add_with(batch, fn, one, &attributes, held) == 1, __LINE__);
    check(gpuexec_batch_launch(batch, s) == GPUEXEC_OK, __LINE__);
    expect(9);
    launch.kernel = fn;
    launch.stream = s;
    launch.dims = one;
    launch.args = held;
    check(gpuexec_launch_multi_device(&launch, 1, nullptr) == GPUEXEC_OK, __LINE__);
    expect(10);
    check(gpuexec_launch(fn, s, one, gpuexec_values_of(out, 1.0f, 0.5, pair{ 2, 1.0f })) ==
                    GPUEXEC_BAD_PARAMETERS,
            __LINE__);
    check(std::strstr(gpuexec_error_text(), "is a float") != nullptr, __LINE__);
    gpuexec_take_error();
}
// A value of 128 bytes, which C++ has at any address.
void tensor_map(gpuexec_context ctx, gpuexec_stream s, gpuexec_kernel last, gpuexec_ptr out) {
    gpuexec_tensor_map map{};
    gpuexec_tensor_map_desc desc{};
    gpuexec_device_info device{};
    unsigned long long got = 0;
    map.opaque[15] = 77;
    gpuexec_launch(last, s, gpuexec_grid(1, 1, 0), map, out);
    gpuexec_copy_out(s, &got, out, sizeof got);
    check(gpuexec_stream_sync(s) == GPUEXEC_OK && got == 77, __LINE__);
    check(gpuexec_tensor_map_encode(ctx, &desc, &map) == GPUEXEC_BAD_ARGUMENT, __LINE__);
    gpuexec_take_error();
    gpuexec_device_get_info(0, &device);
    if (device.compute_capability < 90 || gpuexec_driver_version() < 12000) return;
    desc.type = GPUEXEC_TENSOR_U8;
    desc.address = out;
    desc.rank = 1;
    desc.dims[0] = desc.box[0] = 16;
    check(gpuexec_tensor_map_encode(ctx, &desc, &map) == GPUEXEC_OK, __LINE__);
    gpuexec_launch(last, s, gpuexec_grid(1, 1, 0), map, out);
    gpuexec_copy_out(s, &got, out, sizeof got);
    check(gpuexec_stream_sync(s) == GPUEXEC_OK && got == map.opaque[15], __LINE__);
}
}    // namespace

int main() {
    gpuexec_context ctx = gpuexec_context_open(0, nullptr);
    gpuexec_module mod = gpuexec_module_load(ctx, ptx, 0, nullptr);
    gpuexec_kernel fn = gpuexec_kernel_get(mod, "put"),
                   nothing = gpuexec_kernel_get(mod, "nothing");
    gpuexec_stream_desc desc = {};
    desc.non_blocking = 1;
    gpuexec_stream s = gpuexec_stream_create(ctx, &desc);
    const gpuexec_ptr out = gpuexec_alloc(ctx, sizeof(result));
    result got = {};
    const unsigned five = 5;
    gpuexec_dims one = gpuexec_grid(1, 1, 0);
    check(gpuexec_launch(fn, s, one, out, five + 1, 0.5 * five, pair{ 7, 8.0f }) == GPUEXEC_OK,
            __LINE__);
    gpuexec_copy_out(s, &got, out, sizeof got);
    check(gpuexec_stream_sync(s) == GPUEXEC_OK, __LINE__);
    check(got.a == 6 && got.b > 2.4 && got.b < 2.6 && got.c.x == 7 && got.c.y > 7.9f, __LINE__);
    double b = 1.25;
    pair c = { 1, 2.0f };
    tensor_map(ctx, s, gpuexec_kernel_get(mod, "last"), out);
    check(gpuexec_launch(fn, s, one, GPUEXEC_ARGS(out, five, b, c)) == GPUEXEC_OK, __LINE__);
    check(gpuexec_launch(fn, s, one, out, odd{ 3 }, b, c) == GPUEXEC_OK, __LINE__);
    gpuexec_copy_out(s, &got, out, sizeof got);
    check(gpuexec_stream_sync(s) == GPUEXEC_OK && got.a == 3, __LINE__);
    check(gpuexec_launch(nothing, s, one, GPUEXEC_NO_ARGS) == GPUEXEC_OK, __LINE__);
    check(gpuexec_launch(nothing, s, one) == GPUEXEC_OK, __LINE__);
    const void *addresses[] = { &out, &five, &b, &c };
    gpuexec_args by_hand = {};
    by_hand.addresses = addresses;
    by_hand.count = 4;
    check(gpuexec_launch(fn, s, one, by_hand) == GPUEXEC_OK, __LINE__);
    check(gpuexec_stream_sync(s) == GPUEXEC_OK, __LINE__);
    gpuexec_launch_desc attributes = {};
    attributes.cooperative = 1;
    check(gpuexec_launch_with(fn, s, one, &attributes, out, 9u, 2.0, c) == GPUEXEC_OK, __LINE__);
    check(gpuexec_launch_with(fn, s, one, nullptr, by_hand) == GPUEXEC_OK, __LINE__);
    gpuexec_params p = gpuexec_params_create();
    gpuexec_params_add(p, GPUEXEC_POINTER, &out);
    gpuexec_params_add(p, GPUEXEC_UINT, &five);
    gpuexec_params_add(p, GPUEXEC_DOUBLE, &b);
    gpuexec_params_add_struct(p, &c, sizeof c, 4);
    check(gpuexec_params_check(p, fn) == GPUEXEC_OK, __LINE__);
    check(gpuexec_launch(fn, s, one, gpuexec_params_args(p)) == GPUEXEC_OK, __LINE__);
    gpuexec_prepared prepared = gpuexec_prepare(fn, s, one, out, five + 2, 4.0, pair{ 1, 1.0f });
    check(gpuexec_launch_prepared(prepared) == GPUEXEC_OK, __LINE__);
    gpuexec_copy_out(s, &got, out, sizeof got);
    check(gpuexec_stream_sync(s) == GPUEXEC_OK && got.a == 7 && got.c.x == 1, __LINE__);
    check(gpuexec_prepared_set(prepared, 1, five + 4) == GPUEXEC_OK, __LINE__);
    check(gpuexec_prepared_set(prepared, 3, pair{ 8, 1.0f }) == GPUEXEC_OK, __LINE__);
    check(gpuexec_prepared_set(prepared, 1, &five, sizeof five + 4) == GPUEXEC_BAD_PARAMETERS,
            __LINE__);
    gpuexec_take_error();
    check(gpuexec_launch_prepared(prepared) == GPUEXEC_OK, __LINE__);
    gpuexec_copy_out(s, &got, out, sizeof got);
    check(gpuexec_stream_sync(s) == GPUEXEC_OK && got.a == 9 && got.c.x == 8, __LINE__);
    prepared = gpuexec_prepare(fn, s, one, gpuexec_params_args(p));
    check(gpuexec_launch_prepared(prepared) == GPUEXEC_OK, __LINE__);
    prepared = gpuexec_prepare_with(fn, s, one, &attributes, out, 6u, 4.0, pair{ 1, 1.0f });
    check(gpuexec_launch_prepared(prepared) == GPUEXEC_OK, __LINE__);
    prepared = gpuexec_prepare_with(fn, s, one, nullptr, gpuexec_params_args(p));
    check(gpuexec_launch_prepared(prepared) == GPUEXEC_OK, __LINE__);
    gpuexec_graph graph = gpuexec_graph_create(ctx);
    gpuexec_node first = gpuexec_graph_add_kernel(
            graph, fn, one, out, five + 8, 4.0, pair{ 1, 1.0f }, GPUEXEC_FIRST);
    gpuexec_node empty = gpuexec_graph_add_kernel(graph, nothing, one, GPUEXEC_FIRST);
    gpuexec_node second = gpuexec_graph_add_kernel(
            graph, fn, one, GPUEXEC_ARGS(out, five, b, c), GPUEXEC_AFTER(first));
    second = gpuexec_graph_add_kernel_with(
            graph, fn, one, &attributes, out, 21u, 2.0, c, GPUEXEC_AFTER(second, empty));
    second = gpuexec_graph_add_kernel_with(
            graph, fn, one, nullptr, gpuexec_params_args(p), GPUEXEC_AFTER(second));
    check(second.index == 4 && gpuexec_graph_launch(graph, s) == GPUEXEC_OK, __LINE__);
    check(gpuexec_node_set_args(second, out, five + 18, 2.0, c) == GPUEXEC_OK, __LINE__);
    check(gpuexec_node_set_argument(second, 3, pair{ 6, 1.0f }) == GPUEXEC_OK, __LINE__);
    check(gpuexec_graph_launch(graph, s) == GPUEXEC_OK, __LINE__);
    gpuexec_copy_out(s, &got, out, sizeof got);
    check(gpuexec_stream_sync(s) == GPUEXEC_OK && got.a == 23 && got.c.x == 6, __LINE__);
    /* not an integer */
    first = gpuexec_graph_add_kernel(graph, fn, one, out, 5.0f, 2.0, c, GPUEXEC_FIRST);
    check(!gpuexec_ok(first.graph) && gpuexec_take_error() == GPUEXEC_BAD_PARAMETERS, __LINE__);
    gpuexec_batch batch = gpuexec_batch_create(ctx, nullptr);
    check(gpuexec_batch_add(batch, fn, one, out, five, 4.0, pair{ 1, 1.0f }) == 0, __LINE__);
    check(gpuexec_batch_add(batch, fn, one, gpuexec_params_args(p)) == 1, __LINE__);
    check(gpuexec_batch_add_with(batch, fn, one, &attributes, out, 6u, 4.0, pair{ 2, 1.0f }) == 2,
            __LINE__);
    check(gpuexec_batch_set(batch, 2, 1, five + 8) == GPUEXEC_OK, __LINE__);
    check(gpuexec_batch_launch(batch, s) == GPUEXEC_OK, __LINE__);
    gpuexec_copy_out(s, &got, out, sizeof got);
    check(gpuexec_stream_sync(s) == GPUEXEC_OK && got.a == 13 && got.c.x == 2, __LINE__);
    gpuexec_stream other = gpuexec_stream_create(ctx, nullptr);
    check(s == s && !(s != s) && s != other && gpuexec_same(s, s) && !gpuexec_same(s, other),
            __LINE__);
    // float where double is expected
    check(gpuexec_launch(fn, s, one, out, 5, 1.0f, c) == GPUEXEC_BAD_PARAMETERS, __LINE__);
    check(std::strstr(gpuexec_error_text(), "values.cpp:") != nullptr, __LINE__);
    gpuexec_take_error();
    /* not an integer */
    check(gpuexec_launch(fn, s, one, out, 5.0f, 1.0, c) == GPUEXEC_BAD_PARAMETERS, __LINE__);
    check(std::strstr(
                  gpuexec_error_text(), "argument 1 (counted from 0) of kernel \"put\" is a float"),
            __LINE__);
    gpuexec_take_error();
    check(gpuexec_launch(fn, s, one, out, 5, out, c) == GPUEXEC_BAD_PARAMETERS, __LINE__);
    gpuexec_take_error();
    /* an enum, and bytes */
    check(gpuexec_launch(fn, s, one, out, kind::second, b, 7ULL) == GPUEXEC_OK, __LINE__);
    struct {
        float value;
    } bits = { 5.0f };    // the other way round
    check(gpuexec_launch(fn, s, one, out, bits, b, c) == GPUEXEC_OK, __LINE__);
    check(gpuexec_stream_sync(s) == GPUEXEC_OK, __LINE__);
#ifdef MISUSE    // must not compile
#if MISUSE == 2
    gpuexec_args dangles = gpuexec_values_of(out, five);
#else
    gpuexec_args dangles = gpuexec_values_of(out, five).args();
#endif
    check(gpuexec_launch(fn, s, one, dangles) == GPUEXEC_OK, __LINE__);
#endif
    held_values(ctx, s, fn, out);
    several_devices();
    gpuexec_shutdown();
}
