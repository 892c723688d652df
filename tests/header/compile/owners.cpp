// owners.cpp - owners of handles in C++: each kind ends once, in the right order; destruction
// throws nothing and latches nothing.
#include "../../../gpuexec.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

static const char ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry set(.param .u64 out, .param .u32 to)\n"
                          "{ .reg .u64 %rd; .reg .u32 %r; ld.param.u64 %rd, [out];\n"
                          "  cvta.to.global.u64 %rd, %rd; ld.param.u32 %r, [to];\n"
                          "  st.global.u32 [%rd], %r; ret; }\n";

namespace {
typedef gpuexec_owner<gpuexec_stream> stream_owner;
typedef gpuexec_owner<gpuexec_event> event_owner;
static_assert(!std::is_copy_constructible<stream_owner>::value, "an owner cannot be copied");
static_assert(!std::is_copy_assignable<stream_owner>::value, "an owner cannot be copied");
static_assert(std::is_nothrow_move_constructible<stream_owner>::value, "moving throws nothing");
static_assert(std::is_nothrow_move_assignable<stream_owner>::value, "moving throws nothing");
static_assert(std::is_nothrow_destructible<stream_owner>::value, "destruction throws nothing");
static_assert(!std::is_convertible<gpuexec_stream, stream_owner>::value, "only on request");
static_assert(sizeof(stream_owner) == sizeof(gpuexec_stream), "an owner is no larger");

void check(bool ok, int line) {
    if (ok) return;
    std::printf("owners.cpp:%d is wrong; %s", line, gpuexec_error_text());
    std::exit(1);
}
#define CHECK(condition) check(condition, __LINE__)

// One object of each kind, with the handles that must be stale afterwards.
void each_kind() {
    gpuexec_context ctx = { 0 };
    gpuexec_event event = { 0 };
    gpuexec_prepared launch = { 0 };
    gpuexec_library image = { 0 };
    gpuexec_params block = { 0 };
    {
        struct all {
            gpuexec_owner<gpuexec_context> context;
            gpuexec_owner<gpuexec_library> library;
            gpuexec_owner<gpuexec_module> module;
            gpuexec_owner<gpuexec_linker> linker;
            stream_owner stream;
            event_owner event;
            gpuexec_owner<gpuexec_pool> pool;
            gpuexec_owner<gpuexec_params> params;
            gpuexec_owner<gpuexec_prepared> prepared;
            gpuexec_owner<gpuexec_graph> graph;
            gpuexec_owner<gpuexec_batch> batch;
            gpuexec_owner<gpuexec_barrier> barrier;
            gpuexec_owner<gpuexec_ipc> ipc;
        } o;
        CHECK(!o.context && !o.ipc && o.stream.get().id == 0);
        o.context.reset(gpuexec_context_open(0, nullptr));
        ctx = o.context.get();
        o.library.reset(gpuexec_library_load(ptx, 0, nullptr));
        o.module.reset(gpuexec_module_load(ctx, ptx, 0, nullptr));
        o.linker.reset(gpuexec_linker_create(ctx, nullptr));
        o.stream.reset(gpuexec_stream_create(ctx, nullptr));
        o.event.reset(gpuexec_event_create(ctx, nullptr));
        o.pool.reset(gpuexec_pool_create(ctx, nullptr));
        o.params.reset(gpuexec_params_create());
        const gpuexec_kernel fn = gpuexec_kernel_get(o.module.get(), "set");
        const gpuexec_ptr out = gpuexec_alloc(ctx, 4);
        o.prepared.reset(gpuexec_prepare(fn, o.stream.get(), gpuexec_grid(1, 1, 0), out, 7u));
        o.graph.reset(gpuexec_graph_create(ctx));
        o.batch.reset(gpuexec_batch_create(ctx, nullptr));
        o.barrier.reset(gpuexec_barrier_create(&ctx, 1, nullptr));
        CHECK(o.context && o.library && o.module && o.linker && o.stream && o.event && o.pool);
        CHECK(o.params && o.prepared && o.graph && o.batch && o.barrier);
        CHECK(gpuexec_launch_prepared(o.prepared.get()) == GPUEXEC_OK);
        CHECK(gpuexec_stream_sync(o.stream.get()) == GPUEXEC_OK);
        event = o.event.get();
        launch = o.prepared.get();
        image = o.library.get();
        block = o.params.get();
        CHECK(gpuexec_ok(event) && gpuexec_ok(launch) && gpuexec_ok(image) && gpuexec_ok(block));
    }
    CHECK(!gpuexec_ok(ctx) && !gpuexec_ok(event) && !gpuexec_ok(launch) && !gpuexec_ok(image) &&
            !gpuexec_ok(block));
    CHECK(gpuexec_event_record(event, gpuexec_stream()) != GPUEXEC_OK);
    CHECK(std::strstr(gpuexec_error_text(), "~gpuexec_owner") != nullptr);
    gpuexec_take_error();
}

event_owner made_elsewhere(gpuexec_context ctx) {
    return gpuexec_own(gpuexec_event_create(ctx, nullptr));
}

void moves(gpuexec_context ctx) {
    event_owner a = made_elsewhere(ctx), b;
    const gpuexec_event first = a.get();
    b = std::move(a);
    CHECK(!a && b && b.get() == first);
    event_owner &same = b;
    b = std::move(same);    // itself
    CHECK(b && b.get() == first);
    b.reset(first);    // the one that it has
    CHECK(gpuexec_ok(first));
    a = made_elsewhere(ctx);
    const gpuexec_event second = a.get();
    swap(a, b);
    CHECK(a.get() == first && b.get() == second);
    a.swap(b);
    CHECK(a.get() == second && b.get() == first);
    a = std::move(b);    // destroys the second
    CHECK(!gpuexec_ok(second) && gpuexec_ok(first) && !b);
    b.reset(a.release());
    CHECK(!a && b.get() == first);
    b.reset();
    CHECK(!b && !gpuexec_ok(first));
    std::vector<event_owner> list;
    for (int i = 0; i < 20; i++) list.push_back(made_elsewhere(ctx));
    const gpuexec_event last = list.back().get();
    list.erase(list.begin());
    CHECK(list.size() == 19 && list.back().get() == last && gpuexec_ok(last));
    list.clear();
    CHECK(!gpuexec_ok(last) && gpuexec_take_error() == GPUEXEC_OK);
}

// Destruction that fails latches nothing, and an owner of a failed handle is false.
void failures() {
    gpuexec_owner<gpuexec_context> ctx(gpuexec_context_open(0, nullptr));
    const gpuexec_kernel none = gpuexec_kernel();
    {
        stream_owner stream(gpuexec_stream_create(ctx.get(), nullptr));
        ctx.reset();    // before what it owns
        CHECK(!stream);
    }
    CHECK(gpuexec_take_error() == GPUEXEC_OK);
    {
        gpuexec_owner<gpuexec_prepared> failed(
                gpuexec_prepare(none, gpuexec_stream(), gpuexec_grid(1, 1, 0)));
        CHECK(!failed && *gpuexec_why(failed.get()));
        CHECK(gpuexec_take_error() == GPUEXEC_BAD_HANDLE);
    }
    CHECK(gpuexec_take_error() == GPUEXEC_OK);
}
}    // namespace

int main() {
    gpuexec_owner<gpuexec_context> ctx(gpuexec_context_open(0, nullptr));
    CHECK(static_cast<bool>(ctx));
    each_kind();
    moves(ctx.get());
    failures();
#if defined(MISUSE) && MISUSE == 1    // must not compile: kernels end with their module
    gpuexec_owner<gpuexec_kernel> kernel;
#elif defined(MISUSE) && MISUSE == 2
    const event_owner copy(made_elsewhere(ctx.get())), other(copy);
#elif defined(MISUSE) && MISUSE == 3
    gpuexec_launch(gpuexec_kernel(), gpuexec_stream(), gpuexec_grid(1, 1, 0), ctx);
#endif
    ctx.reset();
    return gpuexec_shutdown() != GPUEXEC_OK;
}
