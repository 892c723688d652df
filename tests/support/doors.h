/* doors.h - what implementation.c shows to tests that do not compile the header's implementation
   themselves. */
#ifndef DOORS_H
#define DOORS_H

#include <stddef.h>
#include <stdint.h>

/* Replaces one of the driver's entry points, named as in GXI_DRIVER, until the next
   gpuexec_shutdown; NULL: as if the driver did not have it. Returns the one before. The driver must
   have started. */
typedef void (*test_function)(void);
test_function test_replace(const char *name, test_function by);

/* The hash that the module keeps of its image, or, if `image` is not NULL, that of these bytes. */
uint64_t test_image_hash(gpuexec_module module, const void *image, size_t bytes);

/* The number of an object's slot. A generation other than 0: as if so many objects had been in
   it. */
unsigned test_slot(uint64_t id, unsigned generation);

/* The cache's hash, BLAKE2b: 32 bytes. */
void test_blake(const void *data, size_t bytes, unsigned char *out);

#endif
