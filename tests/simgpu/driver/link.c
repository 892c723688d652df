/* link.c - cuLink: links PTX texts, also those in fatbins, objects and libraries, to an image. cuLinkComplete returns
   this device's own container, plain bytes that may be saved:

     "SIMLINK2"   u64 total bytes   u64 inputs   u64 CU_JIT_TARGET or 0, above it 32 bits of CU_JIT_MAX_REGISTERS or 0
     and for each input: its name, NUL, its PTX text, NUL

   Loading it parses the texts and resolves their symbols again. Each cuLink call does so, too, to report a mismatch at
   the same call as a GPU's driver. */
#include "driver.h"
#include "../base/cudadefs.h"

struct state {
    uint64_t handle, ns;
    struct sim_jit_options options;               /* point into the caller's arrays, which
                                                     must remain valid as long as this state */
    struct sim_log errors, infos;                 /* of all calls */
    int failed;                                   /* the result of cuLinkComplete: inputs contradict each other */
    char *texts;
    size_t len;
    uint64_t inputs;     /* the container's third part */
    char *image;
};

enum { HEAD = 32 };

/* Links `count` inputs that occupy `left` bytes, each a name and a text; *whole: all of them are complete. */
int sim_link_texts(const char *at, size_t left, uint64_t count, bool more, bool *whole, struct sim_log *errors,
                   struct sim_image **out) {
    struct sim_input *inputs = calloc((size_t)count + 2, sizeof *inputs);
    bool wants = false;                           /* what the device runtime has as PTX */
    int result = CUDA_ERROR_INVALID_IMAGE;
    *out = NULL;
    if (!inputs) return CUDA_ERROR_OUT_OF_MEMORY;
    *whole = true;
    for (uint64_t i = 0; *whole && i < 2 * count; i++) {
        const char *end = left ? memchr(at, 0, left) : NULL;
        if (!(*whole = end != NULL)) break;
        *(i & 1 ? &inputs[i / 2].text : &inputs[i / 2].name) = at;
        wants |= strstr(at, "cudaCG") || strstr(at, "cudaGraphSetConditional");
        left -= (size_t)(end + 1 - at);
        at = end + 1;
    }
    if (wants) inputs[count++] = (struct sim_input) { "the device runtime", sim_device_runtime };
    if (*whole)
        result = sim_image_link(inputs, (unsigned)count, more, (unsigned)sim_max_ptx(),
                                SIM_CC_MAJOR * 10 + SIM_CC_MINOR, errors, out);
    free(inputs);
    return result;
}

int sim_linked_parse(const void *image, size_t limit, struct sim_log *errors, unsigned *registers,
                     struct sim_image **out) {
    uint64_t head[3] = { 0, 0, 0 };
    int result = CUDA_ERROR_INVALID_IMAGE;
    *out = NULL;
    if (limit >= HEAD) memcpy(head, (const char *)image + sizeof sim_linked_magic, sizeof head);
    bool whole = head[0] >= HEAD && head[0] <= limit && head[1] <= head[0] / 2 && head[1] < UINT32_MAX;
    *registers = (unsigned)(head[2] >> 32);
    if (whole && !sim_jit_is_for_us((int)(uint32_t)head[2])) {
        sim_log_add(errors, "simgpu: this image was linked for another target, CU_JIT_TARGET %llu\n",
                    (unsigned long long)(head[2] & UINT32_MAX));
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    if (whole)
        result = sim_link_texts((const char *)image + HEAD, (size_t)head[0] - HEAD, head[1], false, &whole, errors,
                                out);
    if (!whole) sim_log_add(errors, "simgpu: this linked image is incomplete\n");
    return result;
}

/* The log continues from call to call. Line by line, because the size of one addition is limited. */
static void append_log(struct sim_log *to, const struct sim_log *log) {
    for (const char *line = log->text, *end; line && *line && (end = strchr(line, '\n')); line = end + 1)
        sim_log_add(to, "%.*s\n", (int)(end - line), line);
}

/* Writes the messages of a call to the caller's buffers and, if requested, to stderr. */
static int say(struct state *s, struct sim_log *log, uint64_t start, int result) {
    sim_jit_say(result, log);
    if (s) {
        append_log(&s->errors, log);
        s->ns += sim_now_ns() - start;
        sim_jit_write_log(&s->options.error, &s->errors);
        sim_jit_write_log(&s->options.info, &s->infos);
        sim_jit_write_wall(&s->options, s->ns);
    }
    sim_log_free(log);
    return result;
}

/* With CU_JIT_LOG_VERBOSE: some of what a GPU's compiler reports on input `from`, or its linker on all (from 0). */
static void report(struct state *s, const struct sim_image *image, unsigned from, const char *who) {
    if (!s->options.verbose) return;
    sim_report_globals(&s->infos, image, from, who);
    for (unsigned i = 0; i < image->nfuncs; i++) {
        const struct sim_func *f = image->funcs[i];
        if (!f->is_entry || f->input < from) continue;
        if (*who)
            sim_log_add(&s->infos, "%sinfo    : Compiling entry function '%s' for 'sm_%da'\n", who, f->name,
                        SIM_CC_MAJOR * 10 + SIM_CC_MINOR);
        else sim_log_add(&s->infos, "info    : Function properties for '%s':\n", f->name);
    }
}

SIM_API_ALSO(cuLinkCreate_v2, cuLinkCreate, (unsigned n, int *options, void **values, void **out),
             (n, options, values, out), SIM_CTX) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    struct state *s = calloc(1, sizeof *s);
    if (!s) return CUDA_ERROR_OUT_OF_MEMORY;
    int result = sim_jit_read(&s->options, n, options, values);
    for (unsigned i = 0; !result && i < n; i++)
        if (options[i] == CU_JIT_FALLBACK_STRATEGY) result = CUDA_ERROR_INVALID_VALUE;
    if (!result && !(s->handle = sim_handle_new(SIM_H_LINK, s))) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result) free(s); else *out = SIM_HANDLE(s->handle);
    return result;
}

/* As measured, the result for inputs that cannot be linked depends on the last text of the process that did not
   compile: 300 if there was none, 999 after one with an error (218). After one that is too new (222), missing symbols
   give 0 and an image. */
static int last_failure;
void sim_link_remember(int result) {
    if (result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) last_failure = result;
}
static int answer_to(int result) {
    if (result != CUDA_ERROR_UNKNOWN && result != CUDA_ERROR_INVALID_SOURCE) return result;
    if (last_failure == CUDA_ERROR_INVALID_PTX) return CUDA_ERROR_UNKNOWN;
    return last_failure && result == CUDA_ERROR_UNKNOWN ? CUDA_SUCCESS : CUDA_ERROR_INVALID_SOURCE;
}

/* The PTX texts of an input. */
static int find_texts(int type, const char *data, size_t size, const char *name, struct sim_log *log,
                      struct sim_texts *found) {
    enum { OF_WRAPPER = 24 };
    if (type == CU_JIT_INPUT_PTX) {
        const size_t named = strlen(name) + 1, length = strlen(data) + 1;
        if (!(found->bytes = malloc(named + length))) return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(found->bytes, name, named);
        memcpy(found->bytes + named, data, length);
        *found = (struct sim_texts) { found->bytes, named + length, 1 };
        return CUDA_SUCCESS;
    }
    if (type == CU_JIT_INPUT_FATBINARY && (sim_is_fatbin(data) || sim_is_wrapper(data)))
        return sim_fatbin_texts(data, sim_is_wrapper(data) && size == OF_WRAPPER ? SIZE_MAX : size, name, log, found);
    if (type == CU_JIT_INPUT_OBJECT && sim_is_host_elf(data)) return sim_object_texts(data, size, name, log, found);
    if (type == CU_JIT_INPUT_LIBRARY && sim_is_device_runtime(data, size)) return CUDA_SUCCESS;      /* built in */
    if (type == CU_JIT_INPUT_LIBRARY) return sim_archive_texts(data, size, name, log, found);
    sim_log_add(log, "simgpu links PTX only; input '%s' is %s\n", name,
                type == CU_JIT_INPUT_NVVM ? "NVVM code" : "a cubin");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Takes over `text` of `size` bytes and SIM_TAIL zeros. Links it with the earlier inputs to find contradictions, and
   discards the result. */
static int add(void *handle, int type, char *text, size_t size, const char *given, unsigned n, const int *options,
               void **values) {
    struct state *s = sim_get(SIM_H_LINK, handle);
    struct sim_jit_options own = { .wall = NULL };
    struct sim_log log = { NULL, 0, 0 };
    struct sim_image *image = NULL;
    uint64_t start = sim_now_ns(), inputs = s->inputs;
    struct sim_texts found = { NULL, 0, 0 };
    char name[512], *texts = NULL;
    int result = sim_jit_read(&own, n, options, values);
    if (s->image || type < 0 || type >= CU_JIT_NUM_INPUT_TYPES) result = CUDA_ERROR_INVALID_VALUE;
    if (!result && s->failed == CUDA_ERROR_INVALID_IMAGE) result = s->failed;
    /* accepted, as measured */
    if (type == CU_JIT_INPUT_FATBINARY && !sim_is_binary(text)) type = CU_JIT_INPUT_PTX;
    for (unsigned i = 0; !result && i < n; i++)   /* only those of the state */
        if ((options[i] >= CU_JIT_WALL_TIME && options[i] <= CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            || options[i] == CU_JIT_TARGET_FROM_CUCONTEXT || options[i] == CU_JIT_TARGET
            || options[i] == CU_JIT_FALLBACK_STRATEGY
            || (options[i] >= CU_JIT_GLOBAL_SYMBOL_NAMES && options[i] <= CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES))
            result = CUDA_ERROR_INVALID_VALUE;
    if (result) {
        free(text);
        return result;
    }
    if (given) snprintf(name, sizeof name, "%s", given);
    else snprintf(name, sizeof name, "input %llu", (unsigned long long)inputs + 1);
    if (type == CU_JIT_INPUT_PTX ? sim_is_binary(text) || sim_is_linked(text) :
                                   type == CU_JIT_INPUT_CUBIN && (!sim_is_binary(text) || sim_is_host_elf(text))) {
        result = CUDA_ERROR_INVALID_IMAGE;
        if (type == CU_JIT_INPUT_PTX) sim_log_add(&log, SIM_NO_FORMAT);
        else s->failed = result;
    } else if ((type == CU_JIT_INPUT_OBJECT && !sim_is_binary(text))
               || (type == CU_JIT_INPUT_LIBRARY && strncmp(text, "!<arch>\n", 8))) {
        result = CUDA_ERROR_UNKNOWN;
    } else result = find_texts(type, text, size, name, &log, &found);
    const size_t len = s->len + found.len;
    if (!result && !(texts = malloc(len + 1))) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!result) {
        if (s->len) memcpy(texts, s->texts, s->len);
        if (found.len) memcpy(texts + s->len, found.bytes, found.len);
        bool whole;
        pthread_mutex_unlock(&sim_lock);
        pthread_mutex_lock(&sim_load_lock);
        result = sim_link_texts(texts, len, inputs + found.count, true, &whole, &log, &image);
        pthread_mutex_unlock(&sim_load_lock);
        pthread_mutex_lock(&sim_lock);
        s = sim_find(SIM_H_LINK, handle);         /* another thread may have destroyed or completed it */
        if (!result)
            result = !s                              ? CUDA_ERROR_INVALID_HANDLE :
                     s->image || s->inputs != inputs ? CUDA_ERROR_INVALID_VALUE :
                                                       CUDA_SUCCESS;
        sim_link_remember(result);
        if (s && result == CUDA_ERROR_INVALID_SOURCE) s->failed = result = answer_to(result);
        if (!result) {
            report(s, image, (unsigned)inputs, "ptxas ");
            /* of this input; the image has one number for all */
            if (own.limits.registers) s->options.limits.registers = own.limits.registers;
            free(s->texts);
            s->texts = texts;
            s->len = len;
            s->inputs += found.count;
            texts = NULL;
        }
        sim_image_free(image);
    }
    free(found.bytes);
    free(texts);
    free(text);
    return say(s, &log, start, result);
}

SIM_API_ALSO(cuLinkAddData_v2, cuLinkAddData,
             (void *handle, int type, void *data, size_t size, const char *name, unsigned n, int *options,
              void **values),
             (handle, type, data, size, name, n, options, values), SIM_HEALTHY) {
    if (!sim_get(SIM_H_LINK, handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!data || !size || size > SIZE_MAX - SIM_TAIL) return CUDA_ERROR_INVALID_VALUE;
    char *text = malloc(size + SIM_TAIL);
    if (!text) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(text, data, size);
    memset(text + size, 0, SIM_TAIL);
    return add(handle, type, text, size, name, n, options, values);
}

SIM_API_ALSO(cuLinkAddFile_v2, cuLinkAddFile,
             (void *handle, int type, const char *path, unsigned n, int *options, void **values),
             (handle, type, path, n, options, values), SIM_HEALTHY) {
    if (!sim_get(SIM_H_LINK, handle)) return CUDA_ERROR_INVALID_HANDLE;
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    char *text;
    size_t bytes;
    const int result = sim_read_file(path, &text, &bytes);
    if (result) return result;
    if (sim_is_wrapper(text)) memset(text, 0, 4);                  /* its pointers are not of this process: 200 */
    return add(handle, type, text, bytes, path, n, options, values);
}

/* Only once, as measured. */
SIM_API(cuLinkComplete, (void *handle, void **out, size_t *size), (handle, out, size), SIM_HEALTHY) {
    struct state *s = sim_get(SIM_H_LINK, handle);
    if (!s || s->image) return CUDA_ERROR_INVALID_HANDLE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (s->failed) return s->failed;
    struct sim_log log = { NULL, 0, 0 };
    struct sim_image *parsed = NULL;
    const uint64_t target = (unsigned)s->options.target | (uint64_t)s->options.limits.registers << 32;
    uint64_t start = sim_now_ns(), head[3] = { HEAD + s->len, s->inputs, target };
    char *image = malloc(HEAD + s->len);
    if (!image) return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(image, sim_linked_magic, sizeof sim_linked_magic);
    memcpy(image + sizeof sim_linked_magic, head, sizeof head);
    if (s->len) memcpy(image + HEAD, s->texts, s->len);
    pthread_mutex_unlock(&sim_lock);
    pthread_mutex_lock(&sim_load_lock);
    bool whole;
    int result = sim_link_texts(image + HEAD, (size_t)head[0] - HEAD, head[1], false, &whole, &log, &parsed);
    pthread_mutex_unlock(&sim_load_lock);
    pthread_mutex_lock(&sim_lock);
    s = sim_find(SIM_H_LINK, handle);
    result = answer_to(result);
    /* another thread destroyed or completed it */
    if (!result && (!s || s->image)) result = CUDA_ERROR_INVALID_HANDLE;
    if (!result) {
        s->image = image;
        *out = image;
        if (size) *size = (size_t)head[0];
        if (parsed) report(s, parsed, 0, "");
    } else free(image);
    sim_image_free(parsed);
    return say(s, &log, start, result);
}

SIM_API(cuLinkDestroy, (void *handle), (handle), SIM_INIT) {
    struct state *s = sim_get(SIM_H_LINK, handle);
    if (!s) return CUDA_ERROR_INVALID_HANDLE;
    sim_handle_drop(s->handle);
    sim_log_free(&s->errors);
    sim_log_free(&s->infos);
    free(s->texts);
    free(s->image);
    free(s);
    return CUDA_SUCCESS;
}
