/* device.c - the devices: their number, memory and attributes. All values are invented, except for
   those that depend on the compute capability (base/settings.c). */
#include "objects.h"

struct sim_device sim_devices[SIM_MAX_DEVICES];
int sim_device_count;

static uint64_t memory_setting(void) {
    const char *text = getenv("SIMGPU_MEMORY");
    char *end;
    if (!text || !*text) return 2ull << 30;
    uint64_t n = strtoull(text, &end, 10);
    switch (*end) {
    case 'G':
    case 'g': n <<= 10; /* fall through */
    case 'M':
    case 'm': n <<= 10; /* fall through */
    case 'K':
    case 'k':
        n <<= 10;
        end++;
        break;
    }
    if (*end == 0 && n >= 1 << 20 && n <= 1ull << 40) return n;
    fprintf(stderr, "simgpu: SIMGPU_MEMORY=%s is not 1M to 1024G; using 2G\n", text);
    return 2ull << 30;
}

/* SIMGPU_DEVICE_1="name=another model;16=3": attributes in which device 1 differs from the others,
   to test code that needs identical devices. */
static void device_setting(struct sim_device *d) {
    char variable[32], *end;
    int n = 0;
    snprintf(d->name, sizeof d->name, "simgpu CPU device (not a GPU)");
    if (sim_settings.capability->sm != 90)
        snprintf(d->name, sizeof d->name, "simgpu CPU device (not a GPU), compute capability %u.%u",
                sim_settings.capability->sm / 10, sim_settings.capability->sm % 10);
    snprintf(variable, sizeof variable, "SIMGPU_DEVICE_%d", d->number);
    for (const char *text = getenv(variable); text && *text;
            text += strcspn(text, ";"), text += *text == ';') {
        if (strncmp(text, "name=", 5) == 0) {
            snprintf(d->name, sizeof d->name, "%.*s", (int)strcspn(text + 5, ";"), text + 5);
            continue;
        }
        long number = strtol(text, &end, 10), value = *end == '=' ? strtol(end + 1, &end, 10) : 0;
        if (number > 0 && (*end == 0 || *end == ';') && n < 8) {
            d->answers[n].number = (int)number;
            d->answers[n++].value = (int)value;
        } else
            fprintf(stderr,
                    "simgpu: %s: \"%.*s\" is not name=TEXT or ATTRIBUTE=NUMBER, or is the ninth\n",
                    variable, (int)strcspn(text, ";"), text);
    }
}

void sim_device_uuid(unsigned char out[16], int number) {
    memcpy(out, "simgpu-device-\0", 16);
    out[15] = (unsigned char)number;
}

/* The device that the beginning of `text` names, or -1: by its number, or by as many of the digits
   of its UUID (as nvidia-smi prints it, until a comma) as distinguish it from the other devices. */
static int named(const char *text, bool by_uuid, int count) {
    char *end;
    int found = -1;
    if (!by_uuid) {
        const long n = strtol(text, &end, 10);
        return end > text && n >= 0 && n < count ? (int)n : -1;
    }
    for (int i = 0; i < count; i++) {
        unsigned char u[16];
        char name[41] = "GPU-";
        sim_device_uuid(u, i);
        for (int k = 0, at = 4; k < 16; k++)
            at += snprintf(name + at, sizeof name - (size_t)at, "%s%02x",
                    k >= 4 && k <= 10 && k % 2 == 0 ? "-" : "", u[k]);
        const size_t n = strcspn(text, ",");
        if (n < 4 || strncmp(name, text, n)) continue;
        if (found >= 0) return -1;
        found = i;
    }
    return found;
}

/* CUDA_VISIBLE_DEVICES: which of `count` devices the program sees, and in which order. The first
   name of no device ends the list. All names have the form of the first, numbers or UUIDs. -1 if a
   device is named twice. */
static int visible_devices(int *list, int count) {
    const char *text = getenv("CUDA_VISIBLE_DEVICES");
    int n = 0;
    if (!text) {
        for (; n < count; n++) list[n] = n;
        return n;
    }
    const bool by_uuid = !strncmp(text, "GPU-", 4);
    for (bool more = true; more; text += strcspn(text, ","), more = *text == ',', text += more) {
        const int number = named(text, by_uuid, count);
        if (number < 0) break;
        for (int i = 0; i < n; i++)
            if (list[i] == number) return -1;
        list[n++] = number;
    }
    return n;
}

int sim_devices_start(void) {
    const char *text = getenv("SIMGPU_DEVICES");
    int count = text && *text ? atoi(text) : 1;
    uint64_t memory = memory_setting();
    if (count < 1 || count > SIM_MAX_DEVICES) {
        fprintf(stderr, "simgpu: SIMGPU_DEVICES=%s is not 1 to %d; using 1\n", text,
                SIM_MAX_DEVICES);
        count = 1;
    }
    int list[SIM_MAX_DEVICES];
    count = visible_devices(list, count);
    if (count <= 0) return count ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_NO_DEVICE;
    for (int i = sim_device_count; i < count; i++) {
        struct sim_device *d = &sim_devices[i];
        *d = (struct sim_device){ .ordinal = i, .number = list[i], .memory = memory };
        device_setting(d);
        if (!sim_mem_start(d, memory)) return CUDA_ERROR_OUT_OF_MEMORY;
        if (!(d->pool = d->current_pool = sim_pool_new(d))) return CUDA_ERROR_OUT_OF_MEMORY;
        sim_device_count = i + 1;
    }
    return CUDA_SUCCESS;
}

struct sim_device *sim_device_at(CUdevice ordinal) {
    return ordinal >= 0 && ordinal < sim_device_count ? &sim_devices[ordinal] : NULL;
}

struct sim_device *sim_device_numbered(uint64_t number) {
    for (int i = 0; i < sim_device_count; i++)
        if ((uint64_t)sim_devices[i].number == number) return &sim_devices[i];
    return NULL;
}

/* ---- attributes ----

   By number, as in CUdevice_attribute. An attribute of a feature that this library lacks is 0.
   Every unlisted number up to the last one of CUDA 13.0 is 0, too. */

enum { LAST_ATTRIBUTE = 147, PCI_BUS = 33, VIRTUAL_ON_NUMA = 141, VIRTUAL_ON_HOST = 145 };

int sim_device_attribute(struct sim_device *device, int attribute, int *value) {
    static const struct {
        unsigned char number;
        int value;
    } known[] = {
        { 1, SIM_BLOCK_THREADS }, { 2, 1024 }, { 3, 1024 }, { 4, 64 }, /* threads and dimensions of
                                                                          a block */
        { 5, 0x7fffffff }, { 6, 65535 }, { 7, 65535 },                 /* dimensions of a grid */
        { 8, SIM_BLOCK_SHARED }, { 9, 65536 }, { 10, 32 }, { 11, 0x7fffffff }, /* shared, constant,
                                                                                  warp, pitch */
        { 12, SIM_SM_REGS }, { 13, 1000000 },                                  /* registers, kHz */
        { 14, 512 }, { 15, 1 }, { 16, SIM_SMS }, /* texture alignment, overlap, SMs */
        { 19, 1 }, { 30, 512 }, { 31, 1 }, /* mapped host memory, alignment, concurrent kernels */
        /* the largest textures: plain, layered, gathered, deep, cubes; surfaces; linear, mipmapped
         */
        { 21, 131072 }, { 22, 131072 }, { 23, 65536 }, { 24, 16384 }, { 25, 16384 }, { 26, 16384 },
        { 27, 32768 }, { 28, 32768 }, { 29, 2048 }, { 42, 32768 }, { 43, 2048 }, { 44, 1 },
        { 45, 32768 }, { 46, 32768 }, { 47, 8192 }, { 48, 8192 }, { 49, 32768 }, { 52, 32768 },
        { 53, 32768 }, { 54, 2046 }, { 55, 32768 }, { 56, 131072 }, { 57, 65536 }, { 58, 16384 },
        { 59, 16384 }, { 60, 16384 }, { 61, 32768 }, { 62, 2048 }, { 63, 32768 }, { 64, 32768 },
        { 65, 2048 }, { 66, 32768 }, { 67, 32768 }, { 68, 2046 }, { 69, 268435456 }, { 70, 131072 },
        { 71, 65000 }, { 72, 2097120 }, { 73, 32768 }, { 74, 32768 }, { 77, 32768 },
        { 36, 1000000 }, { 37, 64 }, { 38, 1 << 20 }, /* memory kHz, bus width, L2 bytes */
        { 40, 2 }, { 41, 1 }, { 51, 32 },             /* copy engines, unified addressing, pitch */
        { 78, 1 }, { 79, 1 }, { 80, 1 },              /* priorities, L1 */
        { 82, SIM_SM_REGS },                          /* per SM */
        { 83, 1 }, { 89, 1 },   /* managed memory, also while the host uses it */
        { 86, 1 }, { 87, 2 },   /* atomics on host memory; float:double */
        { 90, 1 }, { 91, 1 },   /* preemption, registered pointers */
        { 95, 1 }, { 96, 1 },   /* cooperative, also on several devices */
        { 99, 1 },              /* registering of host memory */
        { 102, 1 }, { 103, 1 }, /* virtual memory, also as files */
        { 109, SIM_MAX_WINDOW }, { 113, 1 }, { 115, 1 }, { 119, 1 }, /* read-only registering,
                                                                        pools, as files */
        { 122, 1 }, { 123, 1 },                                      /* waits for values */
        { 125, 1 },                                                  /* events of processes */
        { 134, -1 }, { VIRTUAL_ON_NUMA, 1 }, { VIRTUAL_ON_HOST, 1 }, /* no NUMA; virtual memory of
                                                                        the host */
    };
    const struct sim_capability *const c = sim_settings.capability;
    const unsigned of_capability[][2] = { { 39, c->sm_threads }, { 75, c->sm / 10 },
        { 76, c->sm % 10 }, { 81, c->sm_shared }, { 97, c->block_shared }, { 106, c->sm_blocks },
        { 111, c->reserved_shared }, { 120, c->sm >= 90 }, { 126, c->sync_domains } };
    if (attribute < 1 || attribute > LAST_ATTRIBUTE) return CUDA_ERROR_INVALID_VALUE;
    *value = attribute == PCI_BUS ? device->number + 1 : 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == attribute) *value = known[i].value;
    for (size_t i = 0; i < sizeof of_capability / sizeof *of_capability; i++)
        if (of_capability[i][0] == (unsigned)attribute) *value = (int)of_capability[i][1];
    if ((attribute == VIRTUAL_ON_NUMA && sim_settings.driver_version < 12020) ||
            (attribute == VIRTUAL_ON_HOST && sim_settings.driver_version < 13000))
        *value = 0;
    for (int i = 0; i < 8 && device->answers[i].number; i++)
        if (device->answers[i].number == attribute) *value = device->answers[i].value;
    return CUDA_SUCCESS;
}

enum sim_peering sim_device_link(const struct sim_device *a, const struct sim_device *b) {
    if (a == b) return SIM_NO_ACCESS;
    return a->number / 2 == b->number / 2 ? sim_settings.in_pair : sim_settings.others;
}
bool sim_peers(const struct sim_device *a, const struct sim_device *b) {
    return sim_device_link(a, b) != SIM_NO_ACCESS;
}
