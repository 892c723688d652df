/*  cc examples/cache.c -o cache && ./cache

    Links two PTX files into one module, with desc.cache: the linked code is kept on disk, and the
    next start of this program, or of any other that links the same, only reads it. Does so twice,
    each time with a new linker, prints the times, and shows where the cache is.
    GPUEXEC_CACHE=/some/folder uses another folder, GPUEXEC_CACHE=0 none; run it again to see two
    hits. (gpuexec_module_compile keeps its results in the same way, always.)

    Prints (... is text that differs between machines and runs):
        linked in ... ms: all 4096 values are correct
        from the cache in ... ms: all 4096 values are correct
        the cache ...: 1 entry, ... bytes; in this process hits: 1, misses: 1
*/
#include "example.h"
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

enum { n = 4096 };

/* From the inputs to the kernel. */
static gpuexec_module link_curve(gpuexec_context ctx) {
    gpuexec_linker_desc desc = { 0 };
    desc.cache = 1;
    gpuexec_linker linker = gpuexec_linker_create(ctx, &desc);
    gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, example_ptx("link_main.ptx"));
    gpuexec_linker_add_file(linker, GPUEXEC_INPUT_AUTO, example_ptx("link_curve.ptx"));
    /* with a cache, only this call compiles and links */
    gpuexec_module mod = gpuexec_linker_load(linker);
    gpuexec_linker_destroy(linker);
    return mod;
}

/* y = curve(x) on the device, compared with the host. Returns how many are wrong. */
static int draw_and_compare(gpuexec_context ctx, gpuexec_kernel draw) {
    static float x[n], y[n];
    int i, count = n, wrong = 0;
    gpuexec_stream s = gpuexec_stream_create(ctx, NULL);
    gpuexec_ptr dx = gpuexec_alloc(ctx, sizeof x), dy = gpuexec_alloc(ctx, sizeof y);
    for (i = 0; i < n; i++) x[i] = (float)(i % 64);
    gpuexec_copy_in(s, dx, x, sizeof x);
    gpuexec_launch(draw, s, gpuexec_grid_for(n, 256), GPUEXEC_ARGS(dx, dy, count));
    gpuexec_copy_out(s, y, dy, sizeof y);
    if (gpuexec_stream_sync(s) != GPUEXEC_OK) {
        fputs(gpuexec_error_text(), stderr);
        return n;
    }
    for (i = 0; i < n; i++) wrong += y[i] != ((3.0f * x[i] + 0.5f) * x[i] - 2.0f) * x[i] + 1.0f;
    return wrong;
}

int main(void) {
    gpuexec_cache_info info;
    gpuexec_context ctx = gpuexec_context_open(0, NULL);
    int round, wrong = 0;

    for (round = 0; round < 2; round++) {
        double begin = example_milliseconds();
        gpuexec_module mod = link_curve(ctx);
        gpuexec_kernel draw = gpuexec_kernel_get(mod, "draw");
        double ms = example_milliseconds() - begin;
        int bad = draw_and_compare(ctx, draw);
        printf("%s in %.2f ms: %s\n",
                gpuexec_module_is_cached(mod) == 1 ? "from the cache" : "linked", ms,
                bad ? "values are WRONG" : "all 4096 values are correct");
        wrong += bad;
    }
    gpuexec_cache_get_info(&info);
    if (info.folder[0])
        printf("the cache %s: %llu entr%s, %llu bytes; in this process hits: %llu, misses: %llu\n",
                info.folder, info.entries, info.entries == 1 ? "y" : "ies", info.bytes, info.hits,
                info.misses);
    if (info.why[0]) printf("the cache: %s\n", info.why);
    gpuexec_shutdown();
    return wrong != 0;
}
