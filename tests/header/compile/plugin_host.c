/* plugin_host.c - three shared libraries in one process, each with its own copy of gpuexec. Each
   refuses the handles of the others; shutting one down does not affect the others; all can be
   unloaded. They share only a CUcontext: each attaches to it, and the last one to leave destroys
   it. Usage: plugin_host A.so B.so C.so */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../../gpuexec.h"

typedef struct plugin {
    void *library;
    uint64_t (*open)(void);
    int (*knows)(uint64_t);
    const char *(*error)(void);
    struct CUctx_st *(*attach)(struct CUctx_st *);
    int (*works)(void);
    int (*leave)(void);
    void (*close)(void);
} plugin;

static int load(plugin *p, const char *path) {
    union {
        void *object;
        void (*function)(void);
    } u;
    p->library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!p->library) {
        fprintf(stderr, "%s\n", dlerror());
        return 0;
    }
#define GET(member, type, name) \
    u.object = dlsym(p->library, name); \
    if (!u.object) return 0; \
    p->member = (type)u.function
    GET(open, uint64_t(*)(void), "plugin_open");
    GET(knows, int (*)(uint64_t), "plugin_knows");
    GET(error, const char *(*)(void), "plugin_error");
    GET(attach, struct CUctx_st * (*)(struct CUctx_st *), "plugin_attach");
    GET(works, int (*)(void), "plugin_works");
    GET(leave, int (*)(void), "plugin_leave");
    GET(close, void (*)(void), "plugin_close");
    return dlsym(p->library, "gpuexec_stream_destroy") == NULL; /* hidden */
}

static void check(int ok, int line, const plugin *p) {
    if (ok) return;
    printf("plugin_host.c:%d is wrong; %s", line, p->error());
    exit(1);
}

/* One library creates a context, the others attach to it, and they leave in the given order. */
static void share(plugin *const p[3], int first, int second, int third) {
    const int order[3] = { first, second, third };
    struct CUctx_st *native = p[0]->attach(NULL);
    int i, k;
    check(native != NULL, __LINE__, p[0]);
    for (i = 1; i < 3; i++) check(p[i]->attach(native) == native, __LINE__, p[i]);
    for (k = 0; k < 3; k++) {
        /* the libraries that are still attached */
        for (i = k; i < 3; i++) check(p[order[i]]->works() == GPUEXEC_OK, __LINE__, p[order[i]]);
        check(p[order[k]]->leave() == GPUEXEC_OK, __LINE__, p[order[k]]);
        for (i = 0; i <= k; i++) {
            check(p[order[i]]->works() == GPUEXEC_STALE_HANDLE, __LINE__, p[order[i]]);
            check(p[order[i]]->leave() == GPUEXEC_STALE_HANDLE, __LINE__, p[order[i]]);
        }
    }
    check(p[1]->attach(native) == NULL, __LINE__, p[1]); /* it was destroyed, not leaked */
    check(p[1]->works() == GPUEXEC_STALE_HANDLE, __LINE__, p[1]);
    check(strstr(p[1]->error(), "is not a context, or has been destroyed") != NULL, __LINE__, p[1]);
}

int main(int argc, char **argv) {
    plugin a, b, c, *all[3];
    uint64_t of_a, of_b;
    if (argc != 4 || !load(&a, argv[1]) || !load(&b, argv[2]) || !load(&c, argv[3])) return 2;
    all[0] = &a, all[1] = &b, all[2] = &c;
    share(all, 0, 1, 2), share(all, 0, 2, 1), share(all, 1, 0, 2), share(all, 1, 2, 0),
            share(all, 2, 0, 1), share(all, 2, 1, 0);
    of_a = a.open();
    of_b = b.open();
    check(of_a != of_b, __LINE__, &a);
    check(a.knows(of_a) == GPUEXEC_OK, __LINE__, &a);
    check(b.knows(of_b) == GPUEXEC_OK, __LINE__, &b);
    check(a.knows(of_b) == GPUEXEC_BAD_HANDLE, __LINE__, &a);
    check(strstr(a.error(), "not belong to this copy") != NULL, __LINE__, &a);
    check(b.knows(of_a) == GPUEXEC_BAD_HANDLE, __LINE__, &b);
    a.close();
    check(a.knows(of_a) == GPUEXEC_STALE_HANDLE, __LINE__, &a);
    check(b.knows(of_b) == GPUEXEC_OK, __LINE__, &b);
    a.close(); /* the query started it again */
    b.close();
    c.close();
    return dlclose(a.library) != 0 || dlclose(b.library) != 0 || dlclose(c.library) != 0;
}
