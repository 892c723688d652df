/* implementation.c - gpuexec's implementation as examples and tests share it, and doors into it for
   tests. */
#define GPUEXEC_IMPLEMENTATION
#include "../../gpuexec.h"
#include "doors.h"

test_function test_replace(const char *name, test_function by) {
    void *const members = &gxi.cu;
    test_function old = NULL;
    size_t i;
    for (i = 0; i < GXI_DRIVER_COUNT; i++) {
        if (strcmp(gxi_driver_rows[i].name, name) != 0) continue;
        memcpy(&old, (char *)members + i * sizeof old, sizeof old);
        memcpy((char *)members + i * sizeof by, &by, sizeof by);
        return old;
    }
    fprintf(stderr, "test_replace: gpuexec calls no %s\n", name);
    abort();
}

uint64_t test_image_hash(gpuexec_module module, const void *image, size_t bytes) {
    return image ? gxi_hash_bytes(image, bytes)
                 : gxi_peek(module.id, GXI_MODULE)->data.module.info->image_hash;
}

unsigned test_slot(uint64_t id, unsigned generation) {
    const unsigned slot = (unsigned)(id >> 6) & (GXI_CHUNKS * GXI_CHUNK_SLOTS - 1);
    if (generation) gxi_slot_at(slot)->generation = generation & GXI_LAST_GENERATION;
    return slot;
}

void test_blake(const void *data, size_t bytes, unsigned char *out) {
    gxi_hasher s;
    gxi_hash_begin(&s);
    gxi_hash_add(&s, data, bytes);
    gxi_hash_finish(&s, out);
}
