/* A program that checks, queries again, takes the failure, continues, and starts again: no_gpu
   RESULT TEXT, the result and a part of the text that each failing call must give. Runs with
   driver.c. */
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;
static void check(int ok, const char *what) {
    if (ok) return;
    printf("failed: %s; the text is:\n%s", what, gpuexec_error_text());
    wrong = 1;
}
#define CHECK(condition) check(condition, #condition)

int main(int argc, char **argv) {
    const char *text = argc > 2 ? argv[2] : "", *path = getenv("GPUEXEC_DRIVER");
    const gpuexec_result wanted = (gpuexec_result)(argc > 1 ? atoi(argv[1]) : 0);
    gpuexec_setup_desc desc = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    gpuexec_context ctx;
    int round;
    CHECK(gpuexec_device_count() == 0);
    CHECK(gpuexec_error_detail()->result == wanted && strstr(gpuexec_error_text(), text));
    CHECK(gpuexec_take_error() == GPUEXEC_OK); /* a query latches nothing */
    for (round = 0; round < 3; round++) {
        const gpuexec_error *e;
        ctx = gpuexec_context_open(0, NULL);
        e = gpuexec_error_detail();
        CHECK(!gpuexec_ok(ctx) && e->cure && strstr(gpuexec_why(ctx), text) &&
                strstr(gpuexec_why(ctx), "driver: cuInit "));
        CHECK(gpuexec_alloc(ctx, 64) == 0);
        CHECK(gpuexec_context_sync(ctx) == wanted); /* waits, and takes it */
        CHECK(strstr(gpuexec_error_text(), text) && strstr(gpuexec_error_text(), "cure: "));
        e = gpuexec_error_detail();
        CHECK(e->driver_result == atoi(getenv("PLAY_CUINIT")) && e->driver_result_name &&
                e->driver_result_name[0]);
        CHECK(gpuexec_take_error() == GPUEXEC_OK);
        CHECK(gpuexec_driver_version() == 0 && gpuexec_driver_path()[0] == 0 &&
                !gpuexec_driver_symbol("cuInit", 2000));
        if (round == 1) { /* another driver may be tried, and this one again */
            desc.driver_path = "/nowhere/libcuda.so.1";
            CHECK(gpuexec_setup(&desc) == GPUEXEC_NO_DRIVER &&
                    gpuexec_take_error() == GPUEXEC_NO_DRIVER);
            desc.driver_path = path;
            CHECK(gpuexec_setup(&desc) == wanted && gpuexec_take_error() == wanted);
        }
    }
    CHECK(gpuexec_shutdown() == GPUEXEC_OK);
    return wrong;
}
