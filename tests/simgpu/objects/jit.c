/* jit.c - what modules, libraries and links have in common: JIT options and logs, kinds of images,
   the newest PTX. */
#include "objects.h"

pthread_mutex_t sim_load_lock = PTHREAD_MUTEX_INITIALIZER;

int sim_max_ptx(void) {
    static const struct {
        int driver, ptx;
    } known[] = {
        { 11040, 74 },
        { 11050, 75 },
        { 11060, 76 },
        { 11070, 77 },
        { 11080, 78 },
        { 12000, 80 },
        { 12010, 81 },
        { 12020, 82 },
        { 12030, 83 },
        { 12040, 84 },
        { 12050, 85 },
        { 12060, 85 },
        { 12070, 86 },
        { 12080, 87 },
        { 12090, 88 },
        { 13000, 90 },
        { 13010, 91 },
        { 13020, 92 },
        { 13030, 93 },
        { 13040, 94 },
        { 13050, 95 },
    };
    int ptx = known[0].ptx;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sim_settings.driver_version >= known[i].driver) ptx = known[i].ptx;
    return ptx;
}

bool sim_is_binary(const void *image) {
    static const unsigned char magic[3][4] = {
        { 0x7f, 'E', 'L', 'F' },
        { 0x50, 0xed, 0x55, 0xba },
        { 0xb1, 0x43, 0x62, 0x46 },
    };
    const unsigned char *p = image;
    /* cubin, fatbin, fatbin wrapper; byte by byte, since a text may end earlier */
    for (int k = 0; k < 3; k++) {
        int i = 0;
        while (i < 4 && p[i] == magic[k][i]) i++;
        if (i == 4) return true;
    }
    return false;
}

bool sim_is_host_elf(const void *image) {
    const unsigned char *p = image;
    /* EM_CUDA */
    return p[0] == 0x7f && p[1] == 'E' && p[2] == 'L' && p[3] == 'F' &&
            (p[18] != 190 || p[19] != 0);
}

/* Of an image in memory, with the zero at the end of a text. */
size_t sim_image_bytes(const void *image) {
    if (sim_is_fatbin(image)) return sim_fatbin_bytes(image);
    return sim_is_binary(image) ? SIM_TAIL : strlen(image) + 1; /* refused by its header */
}

int sim_read_file(const char *path, char **text, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    size_t got = 0;
    bool ok;
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    *text = NULL;
    *bytes = 0;
    do {
        char *more = realloc(*text, *bytes + 65536 + SIM_TAIL);
        if (!(ok = more != NULL)) break;
        *text = more;
        *bytes += got = fread(more + *bytes, 1, 65536, file);
    } while (got);
    const bool failed = ferror(file) != 0;
    fclose(file);
    if (ok && !failed) {
        memset(*text + *bytes, 0, SIM_TAIL);
        return CUDA_SUCCESS;
    }
    free(*text);
    return ok ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- options ---- */

/* For options that belong together: both are given, and the buffer is not NULL. */
static bool log_bad(const struct sim_log_option *o) { return o->wanted && (!o->text || !o->slot); }

int sim_jit_read(struct sim_jit_options *o, unsigned n, const int *options, void **values) {
    if (n && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n; i++) switch (options[i]) {
        case CU_JIT_LOG_VERBOSE: o->verbose = values[i] != NULL; break;
        case CU_JIT_TARGET:
            o->target = (int)(uintptr_t)values[i];
            o->has_target = true;
            break;
        case CU_JIT_THREADS_PER_BLOCK:
            if ((unsigned)(uintptr_t)values[i] > SIM_BLOCK_THREADS)
                values[i] = SIM_HANDLE(SIM_BLOCK_THREADS);
            o->limits.threads = (unsigned)(uintptr_t)values[i];
            break;
        case CU_JIT_MIN_CTA_PER_SM: o->limits.blocks = (unsigned)(uintptr_t)values[i]; break;
        case CU_JIT_MAX_THREADS_PER_BLOCK:
            o->limits.most_threads = (unsigned)(uintptr_t)values[i];
            break;
        case CU_JIT_OVERRIDE_DIRECTIVE_VALUES: o->limits.override = values[i] != NULL; break;
        case CU_JIT_WALL_TIME: o->wall = &values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER:
            o->info.text = values[i];
            o->info.wanted = true;
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            o->error.text = values[i];
            o->error.wanted = true;
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            o->info.size = (unsigned)(uintptr_t)values[i];
            o->info.slot = &values[i];
            o->info.wanted = true;
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            o->error.size = (unsigned)(uintptr_t)values[i];
            o->error.slot = &values[i];
            o->error.wanted = true;
            break;
        case CU_JIT_MAX_REGISTERS:
        case CU_JIT_REFERENCED_KERNEL_NAMES:
        case CU_JIT_REFERENCED_VARIABLE_NAMES:
            if (!values[i]) return CUDA_ERROR_INVALID_VALUE;
            if (options[i] == CU_JIT_MAX_REGISTERS)
                o->limits.registers = (unsigned)(uintptr_t)values[i];
            break;
        case CU_JIT_NEW_SM3X_OPT:
            o->unsupported = true;
            break; /* for the driver's own use; its compiler no longer accepts it */
        default:
            if (options[i] < 0 || options[i] >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
            if (options[i] >= CU_JIT_GLOBAL_SYMBOL_NAMES &&
                    options[i] <= CU_JIT_GLOBAL_SYMBOL_COUNT)
                return CUDA_ERROR_INVALID_VALUE;
        }
    return log_bad(&o->info) || log_bad(&o->error) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

bool sim_jit_is_for_us(int target) {
    return !target || (unsigned)(target & 0xffff) == sim_settings.capability->sm;
}

/* ---- logs ---- */

void sim_report_globals(
        struct sim_log *log, const struct sim_image *image, unsigned from, const char *who) {
    unsigned long long bytes = 0;
    for (unsigned i = 0; i < image->nvars; i++)
        if (image->vars[i]->space == SIM_GLOBAL && image->vars[i]->input >= from)
            bytes += image->vars[i]->size;
    sim_log_add(log, "%sinfo    : %llu bytes gmem\n", who, bytes);
}

/* As measured: without the last newline. If the text does not fit, it is cut silently to the given
   size, and the size slot has that size; otherwise the slot has the length without NUL. If there is
   room only for the NUL, or for nothing, the NUL is written, and the slot is 0. */
void sim_jit_write_log(const struct sim_log_option *o, const struct sim_log *log) {
    if (!o->text || !o->slot) return;
    size_t len = log->len && log->text[log->len - 1] == '\n' ? log->len - 1 : log->len,
           room = o->size ? o->size - 1 : 0, n = len < room ? len : room;
    if (n) memcpy(o->text, log->text, n);
    o->text[n] = 0;
    *o->slot = SIM_HANDLE(!n || len < o->size ? n : o->size);
}

void sim_jit_write_wall(const struct sim_jit_options *o, uint64_t ns) {
    float milliseconds = (float)((double)ns * 1e-6);
    if (o->wall) memcpy(o->wall, &milliseconds, sizeof milliseconds);
}

void sim_jit_say(int result, const struct sim_log *errors) {
    if (result && errors->len && sim_settings.verbose)
        fprintf(stderr, "simgpu: %.*s", (int)errors->len, errors->text);
}

void sim_jit_write(const struct sim_jit_options *o, struct sim_log *errors, struct sim_log *info,
        uint64_t ns, int result) {
    sim_jit_write_log(&o->error, errors);
    sim_jit_write_log(&o->info, info);
    sim_jit_write_wall(o, ns);
    sim_jit_say(result, errors);
    sim_log_free(errors);
    sim_log_free(info);
}
