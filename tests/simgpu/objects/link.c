/* link.c - cuLink: links PTX texts, also those in fatbins, objects and libraries. What
   cuLinkComplete returns is PTX text, too: the inputs one after another, each behind a line of this
   form:

     // linked by the CPU device: target 0, registers 0, input NAME

   The numbers are those of CU_JIT_TARGET and CU_JIT_MAX_REGISTERS, or 0. Loading such a text parses
   the inputs and resolves their symbols again; another link takes it apart into the same inputs.
   Each cuLink call parses them all, to report a mismatch at the same call as a GPU's driver. */
#include "objects.h"
#include <ctype.h>

struct sim_linker {
    uint64_t handle, ns;
    struct sim_jit_options options; /* point into the caller's arrays, which must remain valid as
                                       long as this state */
    struct sim_log errors, infos;   /* of all calls */
    int failed;                     /* the result of cuLinkComplete: inputs contradict each other */
    struct sim_texts texts;
    char *image;
};

/* Links these inputs. more: others may follow. */
int sim_link_texts(
        const struct sim_texts *texts, bool more, struct sim_log *errors, struct sim_image **out) {
    struct sim_input *inputs = calloc((size_t)texts->count + 2, sizeof *inputs);
    unsigned n = 0;
    bool wants = false; /* what the device runtime has as PTX */
    *out = NULL;
    if (!inputs) return CUDA_ERROR_OUT_OF_MEMORY;
    for (const char *at = texts->bytes; n < texts->count; at += strlen(at) + 1) {
        inputs[n].name = at;
        inputs[n++].text = at += strlen(at) + 1;
        wants |= strstr(at, "cudaCG") || strstr(at, "cudaGraphSetConditional");
    }
    if (wants) inputs[n++] = (struct sim_input){ "the device runtime", sim_device_runtime };
    const int result = sim_image_link(
            inputs, n, more, (unsigned)sim_max_ptx(), sim_settings.capability->sm, errors, out);
    free(inputs);
    return result;
}

/* ---- the linked text ---- */

static const char mark[] = "// linked by the CPU device: ";

/* The next line from `text` on that begins an input; NULL: none. */
static const char *find_mark(const char *text) {
    for (const char *at = text; (at = strstr(at, mark)) != NULL; at++)
        if (at == text || at[-1] == '\n') return at;
    return NULL;
}
bool sim_is_linked(const char *text) { return find_mark(text) != NULL; }

/* Whether there is more than comments and space; what others put before the first line is their
   comment. */
static bool has_code(const char *at, const char *end) {
    while (at < end) {
        const char *const close = strncmp(at, "/*", 2) ? NULL : strstr(at + 2, "*/");
        if (isspace((unsigned char)*at)) at++;
        else if (!strncmp(at, "//", 2)) at += strcspn(at, "\n");
        else if (close) at = close + 2;
        else return true;
    }
    return false;
}

static int damaged(struct sim_log *log) {
    sim_log_add(log, "simgpu: this linked image is damaged\n");
    return CUDA_ERROR_INVALID_IMAGE;
}

int sim_linked_texts(
        const char *text, struct sim_log *log, unsigned *registers, struct sim_texts *found) {
    const char *at = find_mark(text);
    if (has_code(text, at)) return damaged(log);
    while (at) {
        const char *const line = at + sizeof mark - 1, *const end = line + strcspn(line, "\n"),
                          *const next = find_mark(end);
        /* sscanf reads up to the end of the text */
        char *const copy = strndup(line, (size_t)(end - line));
        int target = 0, named = 0, result;
        if (!copy) return CUDA_ERROR_OUT_OF_MEMORY;
        if (sscanf(copy, "target %d, registers %u, input %n", &target, registers, &named) < 2 ||
                !named || !*end)
            result = damaged(log);
        else if (!sim_jit_is_for_us(target)) {
            result = CUDA_ERROR_NO_BINARY_FOR_GPU;
            sim_log_add(log, "simgpu: this image was linked for another target, CU_JIT_TARGET %d\n",
                    target);
        } else
            result = sim_texts_add(found, copy + named, end + 1,
                    next ? (size_t)(next - end - 1) : strlen(end + 1));
        free(copy);
        if (result) return result;
        at = next;
    }
    return CUDA_SUCCESS;
}

/* Writes the text; NULL: no memory. */
static char *write_linked(const struct sim_linker *s) {
    enum { LINE = 100 }; /* longer than the line without its name */
    char *const image = malloc(s->texts.len + (size_t)s->texts.count * LINE + 1), *to = image;
    const char *at = s->texts.bytes;
    if (!image) return NULL;
    *to = 0;
    for (uint64_t i = 0; i < s->texts.count; i++, at += strlen(at) + 1) {
        to += sprintf(to, "%starget %d, registers %u, input ", mark, s->options.target,
                s->options.limits.registers);
        for (; *at; at++) *to++ = *at == '\n' ? ' ' : *at;
        to += sprintf(to, "\n%s", ++at);
        if (to[-1] != '\n') *to++ = '\n';
    }
    *to = 0;
    return image;
}

/* ---- link states ---- */

int sim_linker_new(unsigned n, const int *options, void **values, void **out) {
    struct sim_linker *s = calloc(1, sizeof *s);
    if (!s) return CUDA_ERROR_OUT_OF_MEMORY;
    int result = sim_jit_read(&s->options, n, options, values);
    for (unsigned i = 0; !result && i < n; i++)
        if (options[i] == CU_JIT_FALLBACK_STRATEGY) result = CUDA_ERROR_INVALID_VALUE;
    if (!result && !(s->handle = sim_handle_new(SIM_H_LINK, s))) result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result) free(s);
    else *out = SIM_HANDLE(s->handle);
    return result;
}

void sim_linker_free(struct sim_linker *s) {
    sim_handle_drop(s->handle);
    sim_log_free(&s->errors);
    sim_log_free(&s->infos);
    free(s->texts.bytes);
    free(s->image);
    free(s);
}

/* ---- logs ---- */

/* The log continues from call to call. Line by line, because the size of one addition is
   limited. */
static void append_log(struct sim_log *to, const struct sim_log *log) {
    for (const char *line = log->text, *end; line && *line && (end = strchr(line, '\n'));
            line = end + 1)
        sim_log_add(to, "%.*s\n", (int)(end - line), line);
}

/* Writes the messages of a call to the caller's buffers and, if requested, to stderr. */
static int say(struct sim_linker *s, struct sim_log *log, uint64_t start, int result) {
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

/* With CU_JIT_LOG_VERBOSE: some of what a GPU's compiler reports on input `from`, or its linker on
   all (from 0). */
static void report(
        struct sim_linker *s, const struct sim_image *image, unsigned from, const char *who) {
    if (!s->options.verbose) return;
    sim_report_globals(&s->infos, image, from, who);
    for (unsigned i = 0; i < image->nfuncs; i++) {
        const struct sim_func *f = image->funcs[i];
        if (!f->is_entry || f->input < from) continue;
        if (*who)
            sim_log_add(&s->infos, "%sinfo    : Compiling entry function '%s' for 'sm_%u%s'\n", who,
                    f->name, sim_settings.capability->sm,
                    sim_settings.capability->sm < 90 ? "" : "a");
        else sim_log_add(&s->infos, "info    : Function properties for '%s':\n", f->name);
    }
}

/* As measured, the result for inputs that cannot be linked depends on the last text of the process
   that did not compile: 300 if there was none, 999 after one with an error (218). After one that is
   too new (222), missing symbols give 0 and an image. */
static int last_failure;
void sim_link_remember(int result) {
    if (result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        last_failure = result;
}
static int answer_to(int result) {
    if (result != CUDA_ERROR_UNKNOWN && result != CUDA_ERROR_INVALID_SOURCE) return result;
    if (last_failure == CUDA_ERROR_INVALID_PTX) return CUDA_ERROR_UNKNOWN;
    return last_failure && result == CUDA_ERROR_UNKNOWN ? CUDA_SUCCESS : CUDA_ERROR_INVALID_SOURCE;
}

/* The PTX texts of an input; *registers: what a linked one was linked with. */
static int find_texts(int type, const char *data, size_t size, const char *name,
        struct sim_log *log, unsigned *registers, struct sim_texts *found) {
    enum { OF_WRAPPER = 24 };
    if (type == CU_JIT_INPUT_PTX && sim_is_linked(data))
        return sim_linked_texts(data, log, registers, found);
    if (type == CU_JIT_INPUT_PTX) return sim_texts_add(found, name, data, strlen(data));
    if (type == CU_JIT_INPUT_FATBINARY && (sim_is_fatbin(data) || sim_is_wrapper(data)))
        return sim_fatbin_texts(data, sim_is_wrapper(data) && size == OF_WRAPPER ? SIZE_MAX : size,
                name, log, found);
    if (type == CU_JIT_INPUT_OBJECT && sim_is_host_elf(data))
        return sim_object_texts(data, size, name, log, found);
    /* built in */
    if (type == CU_JIT_INPUT_LIBRARY && sim_is_device_runtime(data, size)) return CUDA_SUCCESS;
    if (type == CU_JIT_INPUT_LIBRARY) return sim_archive_texts(data, size, name, log, found);
    sim_log_add(log, "simgpu links PTX only; input '%s' is %s\n", name,
            type == CU_JIT_INPUT_NVVM ? "NVVM code" : "a cubin");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Takes over `text` of `size` bytes and SIM_TAIL zeros. Links it with the earlier inputs to find
   contradictions, and discards the result. */
int sim_linker_add(void *handle, int type, char *text, size_t size, const char *given, unsigned n,
        const int *options, void **values) {
    struct sim_linker *s = sim_get(SIM_H_LINK, handle);
    struct sim_jit_options own = { .wall = NULL };
    struct sim_log log = { NULL, 0, 0 };
    struct sim_image *image = NULL;
    uint64_t start = sim_now_ns(), inputs = s->texts.count;
    struct sim_texts found = { NULL, 0, 0 }, all = { NULL, 0, 0 };
    unsigned registers = 0;
    char name[512];
    int result = sim_jit_read(&own, n, options, values);
    if (s->image || type < 0 || type >= CU_JIT_NUM_INPUT_TYPES) result = CUDA_ERROR_INVALID_VALUE;
    if (!result && s->failed == CUDA_ERROR_INVALID_IMAGE) result = s->failed;
    /* accepted, as measured */
    if (type == CU_JIT_INPUT_FATBINARY && !sim_is_binary(text)) type = CU_JIT_INPUT_PTX;
    for (unsigned i = 0; !result && i < n; i++) /* only those of the state */
        if ((options[i] >= CU_JIT_WALL_TIME && options[i] <= CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) ||
                options[i] == CU_JIT_TARGET_FROM_CUCONTEXT || options[i] == CU_JIT_TARGET ||
                options[i] == CU_JIT_FALLBACK_STRATEGY ||
                (options[i] >= CU_JIT_GLOBAL_SYMBOL_NAMES &&
                        options[i] <= CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES))
            result = CUDA_ERROR_INVALID_VALUE;
    if (result) {
        free(text);
        return result;
    }
    if (given) snprintf(name, sizeof name, "%s", given);
    else snprintf(name, sizeof name, "input %llu", (unsigned long long)inputs + 1);
    if (type == CU_JIT_INPUT_PTX ? sim_is_binary(text)
                                 : type == CU_JIT_INPUT_CUBIN &&
                            (!sim_is_binary(text) || sim_is_host_elf(text))) {
        result = CUDA_ERROR_INVALID_IMAGE;
        if (type == CU_JIT_INPUT_PTX) sim_log_add(&log, SIM_NO_FORMAT);
        else s->failed = result;
    } else if ((type == CU_JIT_INPUT_OBJECT && !sim_is_binary(text)) ||
            (type == CU_JIT_INPUT_LIBRARY && strncmp(text, "!<arch>\n", 8))) {
        result = CUDA_ERROR_UNKNOWN;
    } else result = find_texts(type, text, size, name, &log, &registers, &found);
    if (!result) {
        all = (struct sim_texts){ malloc(s->texts.len + found.len + 1), s->texts.len + found.len,
            inputs + found.count };
        if (!all.bytes) result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!result) {
        if (s->texts.len) memcpy(all.bytes, s->texts.bytes, s->texts.len);
        if (found.len) memcpy(all.bytes + s->texts.len, found.bytes, found.len);
        pthread_mutex_unlock(&sim_lock);
        pthread_mutex_lock(&sim_load_lock);
        result = sim_link_texts(&all, true, &log, &image);
        pthread_mutex_unlock(&sim_load_lock);
        pthread_mutex_lock(&sim_lock);
        s = sim_find(SIM_H_LINK, handle); /* another thread may have destroyed or completed it */
        if (!result)
            result = !s                                    ? CUDA_ERROR_INVALID_HANDLE
                    : s->image || s->texts.count != inputs ? CUDA_ERROR_INVALID_VALUE
                                                           : CUDA_SUCCESS;
        sim_link_remember(result);
        if (s && result == CUDA_ERROR_INVALID_SOURCE) s->failed = result = answer_to(result);
        if (!result) {
            report(s, image, (unsigned)inputs, "ptxas ");
            /* of this input; the image has one number for all */
            if (own.limits.registers) registers = own.limits.registers;
            if (registers) s->options.limits.registers = registers;
            free(s->texts.bytes);
            s->texts = all;
            all.bytes = NULL;
        }
        sim_image_free(image);
    }
    free(found.bytes);
    free(all.bytes);
    free(text);
    return say(s, &log, start, result);
}

/* Only once, as measured. */
int sim_linker_complete(const void *handle, void **out, size_t *size) {
    struct sim_linker *s = sim_get(SIM_H_LINK, handle);
    if (!s || s->image) return CUDA_ERROR_INVALID_HANDLE;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (s->failed) return s->failed;
    static const char nothing[] = ".version 6.4\n.target sm_75\n.address_size 64\n";
    struct sim_log log = { NULL, 0, 0 };
    struct sim_image *parsed = NULL;
    uint64_t start = sim_now_ns();
    if (!s->texts.count && sim_texts_add(&s->texts, "nothing", nothing, sizeof nothing - 1))
        return CUDA_ERROR_OUT_OF_MEMORY;
    char *image = write_linked(s);
    struct sim_texts texts = { malloc(s->texts.len), s->texts.len, s->texts.count };
    if (!image || !texts.bytes) {
        free(image);
        free(texts.bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(texts.bytes, s->texts.bytes, texts.len);
    pthread_mutex_unlock(&sim_lock);
    pthread_mutex_lock(&sim_load_lock);
    int result = sim_link_texts(&texts, false, &log, &parsed);
    pthread_mutex_unlock(&sim_load_lock);
    pthread_mutex_lock(&sim_lock);
    free(texts.bytes);
    s = sim_find(SIM_H_LINK, handle);
    result = answer_to(result);
    /* another thread destroyed or completed it */
    if (!result && (!s || s->image)) result = CUDA_ERROR_INVALID_HANDLE;
    if (!result) {
        s->image = image;
        *out = image;
        if (size) *size = strlen(image);
        if (parsed) report(s, parsed, 0, "");
    } else free(image);
    sim_image_free(parsed);
    return say(s, &log, start, result);
}
