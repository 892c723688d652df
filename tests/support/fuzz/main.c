/* main.c - replaces libFuzzer: runs a harness on the files named on the command line. */
#include "fuzz.h"

int main(int count, char **names) {
    LLVMFuzzerInitialize(&count, &names);
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(names[i], "rb");
        uint8_t *data;
        long size;
        if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 ||
                fseek(file, 0, SEEK_SET)) {
            perror(names[i]);
            return 1;
        }
        /* of the exact size, so that sanitizers detect reads beyond it */
        data = (uint8_t *)malloc((size_t)size + !size);
        if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) {
            perror(names[i]);
            return 1;
        }
        fclose(file);
        fprintf(stderr, "%s\n", names[i]);
        LLVMFuzzerTestOneInput(data, (size_t)size);
        free(data);
    }
    return 0;
}
