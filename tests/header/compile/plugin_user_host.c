/* plugin_user_host.c - a library that called gpuexec is unloaded before the host queries where it
   called: the texts still say so, and nothing reads the unloaded memory.
   Usage: plugin_user_host USER.so, linked with a library that exports gpuexec. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../../gpuexec.h"

static int leaks;
static void look(void *user, gpuexec_log_level level, const char *text) {
    (void)user;
    if (level == GPUEXEC_LOG_WARNING && strstr(text, "plugin_user.c:")) leaks++;
}
static void check(int ok, int line) {
    if (ok) return;
    printf("plugin_user_host.c:%d is wrong; %s", line, gpuexec_error_text());
    exit(1);
}

int main(int argc, char **argv) {
    gpuexec_setup_desc desc = { 0, 0, 0, 0, 0, 1, look, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    union {
        void *object;
        unsigned long long (*works)(void);
    } u;
    unsigned long long memory;
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library || (u.object = dlsym(library, "user_works")) == NULL) return 2;
    check(gpuexec_setup(&desc) == GPUEXEC_OK, __LINE__);
    memory = u.works();
    check(memory != 0, __LINE__);
    if (dlclose(library) != 0 || dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != NULL) return 2;
    check(strstr(gpuexec_error_text(), "plugin_user.c:") != NULL, __LINE__);
    check(strstr(gpuexec_error_detail()->where, "plugin_user.c:") != NULL, __LINE__);
    check(gpuexec_take_error() == GPUEXEC_BAD_ARGUMENT, __LINE__);
    check(strstr(gpuexec_error_text(), "plugin_user.c:") != NULL, __LINE__);
    check(gpuexec_free(memory + 1) == GPUEXEC_BAD_ARGUMENT, __LINE__);
    check(strstr(gpuexec_error_text(), "plugin_user.c:") != NULL, __LINE__);
    check(gpuexec_shutdown() == GPUEXEC_OK, __LINE__);
    check(leaks == 3, __LINE__);
    return 0;
}
