/* link.c - cuLink: PTX texts linked to an image. What cuLinkComplete gives is this device's own container, plain bytes that may be saved:

     "SIMLINK1"   u64 bytes in all   u64 inputs   and for each input: its name, NUL, its PTX text, NUL

   Loading it parses the texts and resolves their symbols again; cuLinkComplete has done so once, to know that it can be done. */
#include "sim.h"
#include "cudadefs.h"

struct state {
    uint64_t handle, ns;
    struct sim_jit_options options;               /* point into the caller's arrays, which live as long as this */
    struct sim_log errors;                        /* of all calls */
    char *texts; size_t len; uint64_t inputs;     /* the container's third part */
    char *image; size_t size;
};

static const char magic[8] = { 'S', 'I', 'M', 'L', 'I', 'N', 'K', '1' };
enum { HEAD = 24 };

bool sim_is_linked(const void *image) {
    const char *p = image;
    unsigned i = 0;
    while (i < sizeof magic && p[i] == magic[i]) i++;                    /* byte by byte, as a text may end earlier */
    return i == sizeof magic;
}

int sim_linked_parse(const void *image, size_t limit, struct sim_log *errors, struct sim_image **out) {
    const char *at = (const char *)image + HEAD;
    uint64_t head[2] = { 0, 0 };
    *out = NULL;
    if (limit >= HEAD) memcpy(head, (const char *)image + sizeof magic, sizeof head);
    struct sim_input *inputs = NULL;
    bool ok = head[0] >= HEAD && head[0] <= limit && head[1] && head[1] <= head[0] / 2 && head[1] <= UINT32_MAX;
    size_t left = ok ? (size_t)head[0] - HEAD : 0;
    if (ok && !(inputs = calloc((size_t)head[1], sizeof *inputs))) return CUDA_ERROR_OUT_OF_MEMORY;
    for (uint64_t i = 0; ok && i < 2 * head[1]; i++) {
        const char *end = left ? memchr(at, 0, left) : NULL;
        if (!(ok = end != NULL)) break;
        *(i & 1 ? &inputs[i / 2].text : &inputs[i / 2].name) = at;
        left -= (size_t)(end + 1 - at);
        at = end + 1;
    }
    int result = CUDA_ERROR_INVALID_IMAGE;
    if (ok) result = sim_image_link(inputs, (unsigned)head[1], true, (unsigned)sim_max_ptx(), SIM_CC_MAJOR * 10 + SIM_CC_MINOR, errors, out);
    else sim_log_add(errors, "simgpu: this linked image is not whole\n");
    free(inputs);
    return result;
}

/* What a call has to say goes to the caller's buffers and, if asked for, to stderr. */
static int say(struct state *s, struct sim_log *log, uint64_t start, int result) {
    if (result && log->len && sim_settings.verbose) fprintf(stderr, "simgpu: %.*s", (int)log->len, log->text);
    struct sim_log nothing = { NULL, 0, 0 };
    if (s) {
        for (char *line = log->text, *end; line && *line; line = end + 1) {        /* a log line at a time: it has a limit */
            if (!(end = strchr(line, '\n'))) break;
            sim_log_add(&s->errors, "%.*s\n", (int)(end - line), line);
        }
        s->ns += sim_now_ns() - start;
        sim_jit_write_log(&s->options.error, &s->errors);
        sim_jit_write_log(&s->options.info, &nothing);
        sim_jit_write_wall(&s->options, s->ns);
    }
    sim_log_free(log);
    return result;
}

SIM_API(cuLinkCreate_v2, (unsigned n, int *options, void **values, void **out), (n, options, values, out), SIM_CTX) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    struct state *s = calloc(1, sizeof *s);
    if (!s) return CUDA_ERROR_OUT_OF_MEMORY;
    int result = sim_jit_read(&s->options, n, options, values);
    if (!result && !(s->handle = sim_handle_new(SIM_H_LINK, s))) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result) free(s); else *out = SIM_HANDLE(s->handle);
    return result;
}

static int append(struct state *s, const char *name, const char *text) {
    size_t n = strlen(name) + 1, m = strlen(text) + 1;
    char *more = realloc(s->texts, s->len + n + m);
    if (!more) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(more + s->len, name, n);
    memcpy(more + s->len + n, text, m);
    s->texts = more; s->len += n + m; s->inputs++;
    return CUDA_SUCCESS;
}

/* Takes over `text`, which ends with zeros. */
static int add(void *handle, int type, char *text, const char *given, unsigned n, const int *options, void **values) {
    struct state *s = sim_get(SIM_H_LINK, handle);
    struct sim_jit_options unused = { .wall = NULL };
    struct sim_log log = { NULL, 0, 0 };
    struct sim_image *image = NULL;
    uint64_t start = sim_now_ns();
    char name[512];
    int result = sim_jit_read(&unused, n, options, values);
    if (s->image || type < 0 || type >= CU_JIT_NUM_INPUT_TYPES) result = CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; !result && i < n; i++)   /* those of the state only */
        if ((options[i] >= CU_JIT_WALL_TIME && options[i] <= CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) || options[i] == CU_JIT_TARGET_FROM_CUCONTEXT
            || options[i] == CU_JIT_TARGET) result = CUDA_ERROR_INVALID_VALUE;
    if (result) { free(text); return result; }
    if (given) snprintf(name, sizeof name, "%s", given);
    else snprintf(name, sizeof name, "input %llu", (unsigned long long)s->inputs + 1);
    pthread_mutex_unlock(&sim_lock);
    if (type != CU_JIT_INPUT_PTX || sim_is_binary(text) || sim_is_linked(text)) {
        static const char *const kinds[] = { "a cubin", "no PTX text", "a fatbin", "an object", "a library", "NVVM code" };
        result = CUDA_ERROR_NO_BINARY_FOR_GPU;
        sim_log_add(&log, "simgpu links PTX text only; input '%s' is %s\n", name, kinds[type]);
    } else {
        struct sim_input input = { name, text };
        pthread_mutex_lock(&sim_load_lock);
        result = sim_image_link(&input, 1, false, (unsigned)sim_max_ptx(), SIM_CC_MAJOR * 10 + SIM_CC_MINOR, &log, &image);
        pthread_mutex_unlock(&sim_load_lock);
        sim_image_free(image);
    }
    pthread_mutex_lock(&sim_lock);
    s = sim_get(SIM_H_LINK, handle);              /* another thread may have destroyed it */
    if (!result) result = !s ? CUDA_ERROR_INVALID_HANDLE : s->image ? CUDA_ERROR_INVALID_VALUE : append(s, name, text);
    free(text);
    return say(s, &log, start, result);
}

SIM_API(cuLinkAddData_v2, (void *handle, int type, void *data, size_t size, const char *name, unsigned n, int *options, void **values),
        (handle, type, data, size, name, n, options, values), SIM_HEALTHY) {
    if (!sim_get(SIM_H_LINK, handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!data || !size || size > SIZE_MAX - 8) return CUDA_ERROR_INVALID_VALUE;
    char *text = malloc(size + 8);
    if (!text) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(text, data, size);
    memset(text + size, 0, 8);
    return add(handle, type, text, name, n, options, values);
}

SIM_API(cuLinkAddFile_v2, (void *handle, int type, const char *path, unsigned n, int *options, void **values),
        (handle, type, path, n, options, values), SIM_HEALTHY) {
    if (!sim_get(SIM_H_LINK, handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    FILE *file = fopen(path, "rb");
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    char *text = NULL;
    size_t len = 0, got = 0;
    bool ok;
    do {
        char *more = realloc(text, len + 65536 + 8);
        if (!(ok = more != NULL)) break;
        text = more;
        len += got = fread(text + len, 1, 65536, file);
    } while (got);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (!ok || failed) { free(text); return ok ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_ERROR_OUT_OF_MEMORY; }
    memset(text + len, 0, 8);
    return add(handle, type, text, path, n, options, values);
}

SIM_API(cuLinkComplete, (void *handle, void **out, size_t *size), (handle, out, size), SIM_HEALTHY) {
    struct state *s = sim_get(SIM_H_LINK, handle);
    if (!s) return CUDA_ERROR_INVALID_HANDLE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    struct sim_log log = { NULL, 0, 0 };
    uint64_t start = sim_now_ns(), head[2] = { HEAD + s->len, s->inputs };
    int result = CUDA_SUCCESS;
    if (!s->image) {
        struct sim_image *parsed = NULL;
        char *image = malloc(HEAD + s->len);
        if (!image) return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(image, magic, sizeof magic);
        memcpy(image + sizeof magic, head, sizeof head);
        if (s->len) memcpy(image + HEAD, s->texts, s->len);
        pthread_mutex_unlock(&sim_lock);
        if (!head[1]) { result = CUDA_ERROR_UNKNOWN; sim_log_add(&log, "simgpu: nothing was added that could be linked\n"); }
        else {
            pthread_mutex_lock(&sim_load_lock);
            result = sim_linked_parse(image, (size_t)head[0], &log, &parsed);
            pthread_mutex_unlock(&sim_load_lock);
            sim_image_free(parsed);
        }
        pthread_mutex_lock(&sim_lock);
        s = sim_get(SIM_H_LINK, handle);
        if (!result && !s) result = CUDA_ERROR_INVALID_HANDLE;
        if (result || s->image) free(image);      /* or another thread was faster */
        else { s->image = image; s->size = (size_t)head[0]; }
    }
    if (!result) { *out = s->image; if (size) *size = s->size; }
    return say(s, &log, start, result);
}

SIM_API(cuLinkDestroy, (void *handle), (handle), SIM_INIT) {
    struct state *s = sim_get(SIM_H_LINK, handle);
    if (!s) return CUDA_ERROR_INVALID_HANDLE;
    sim_handle_drop(s->handle);
    sim_log_free(&s->errors);
    free(s->texts);
    free(s->image);
    free(s);
    return CUDA_SUCCESS;
}
