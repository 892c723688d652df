/* plugin_host.c - two shared libraries in one process, each with its copy of gpuexec: they never meet. A handle of one is refused by the
   other as such; shutting one down leaves the other alone; both can be unloaded. Usage: plugin_host A.so B.so */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../gpuexec.h"

typedef struct plugin {
    void *library;
    uint64_t (*open)(void);
    int (*knows)(uint64_t);
    const char *(*error)(void);
    void (*close)(void);
} plugin;

static int load(plugin *p, const char *path) {
    union { void *object; void (*function)(void); } u;
    p->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!p->library) { fprintf(stderr, "%s\n", dlerror()); return 0; }
#define GET(member, type, name) u.object = dlsym(p->library, name); if (!u.object) return 0; p->member = (type)u.function
    GET(open, uint64_t (*)(void), "plugin_open");
    GET(knows, int (*)(uint64_t), "plugin_knows");
    GET(error, const char *(*)(void), "plugin_error");
    GET(close, void (*)(void), "plugin_close");
    return dlsym(p->library, "gpuexec_stream_destroy") == NULL;            /* hidden */
}

static void check(int ok, int line, const plugin *p) {
    if (ok) return;
    printf("plugin_host.c:%d is wrong; %s", line, p->error());
    exit(1);
}

int main(int argc, char **argv) {
    plugin a, b;
    uint64_t of_a, of_b;
    if (argc != 3 || !load(&a, argv[1]) || !load(&b, argv[2])) return 2;
    of_a = a.open();
    of_b = b.open();
    check(of_a != of_b, __LINE__, &a);
    check(a.knows(of_a) == GPUEXEC_OK, __LINE__, &a);
    check(b.knows(of_b) == GPUEXEC_OK, __LINE__, &b);
    check(a.knows(of_b) == GPUEXEC_BAD_HANDLE, __LINE__, &a);
    check(strstr(a.error(), "not of this copy") != NULL, __LINE__, &a);
    check(b.knows(of_a) == GPUEXEC_BAD_HANDLE, __LINE__, &b);
    a.close();
    check(a.knows(of_a) == GPUEXEC_STALE_HANDLE, __LINE__, &a);
    check(b.knows(of_b) == GPUEXEC_OK, __LINE__, &b);
    a.close();                                                             /* it was started again by the question */
    b.close();
    return dlclose(a.library) != 0 || dlclose(b.library) != 0;
}
