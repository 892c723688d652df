/* device.c - runs a program on the available device. */
#include "random.h"
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"

static gpuexec_context context;
static gpuexec_stream stream;
static gpuexec_ptr in, out;
static bool ready;
static size_t in_room, out_room;

static bool failed(const char *what) {
    printf("%s: %s", what, gpuexec_error_text());
    return false;
}

static bool room_for(gpuexec_ptr *p, size_t *room, size_t bytes) {
    if (bytes <= *room) return true;
    if (*room) gpuexec_free(*p);
    *room = 2 * bytes;
    *p = gpuexec_alloc(context, *room);
    return gpuexec_take_error() == GPUEXEC_OK;
}

/* Fills `output` (out_bytes) with the program's results; bytes that it does not write are 0xa5. */
bool rnd_run(const struct rnd_program *p, const void *input, void *output) {
    char name[32];
    struct {
        unsigned char byte[64];
    } block;
    uint64_t state = p->number;
    snprintf(name, sizeof name, "program %u", p->number);
    for (unsigned i = 0; i < sizeof block; i++) block.byte[i] = (unsigned char)rnd_next(&state);
    if (!ready) {
        ready = true;
        context = gpuexec_context_open(0, NULL);
        stream = gpuexec_stream_create(context, NULL);
    }
    if (!room_for(&in, &in_room, p->in_bytes) || !room_for(&out, &out_room, p->out_bytes))
        return failed(name);
    gpuexec_module module = gpuexec_module_load(context, p->text, p->length + 1, NULL);
    gpuexec_kernel kernel = gpuexec_kernel_get(module, "k");
    gpuexec_copy_in(stream, in, input, p->in_bytes);
    gpuexec_fill(stream, out, 0xa5, 1, p->out_bytes);
    gpuexec_launch(
            kernel, stream, gpuexec_grid(p->grid, p->block, 0), GPUEXEC_ARGS(out, in, block));
    gpuexec_copy_out(stream, output, out, p->out_bytes);
    const bool done = gpuexec_stream_sync(stream) == GPUEXEC_OK;
    if (!done) failed(name);
    gpuexec_take_error();
    gpuexec_module_unload(module);
    return done;
}

bool rnd_refuses(const char *text, size_t length, char *log, size_t size) {
    gpuexec_module module = gpuexec_module_load(context, text, length + 1, NULL);
    const bool refuses = gpuexec_take_error() != GPUEXEC_OK;
    snprintf(log, size, "%s", refuses ? gpuexec_error_text() : "");
    if (!refuses) gpuexec_module_unload(module);
    return refuses;
}

int rnd_capability(void) {
    gpuexec_device_info info;
    if (gpuexec_device_get_info(0, &info) != GPUEXEC_OK) return -1;
    return strstr(info.name, "NVIDIA") ? info.compute_capability : 0;
}

void rnd_close(void) { gpuexec_shutdown(); }
