/*  cc examples/context_stack.c -o context_stack && ./context_stack

    Each thread has a stack of current contexts. gpuexec's own calls do not depend on it; direct
    driver calls and the CUDA runtime do. This program pushes and pops contexts, lets a scope do
    that, passes a floating context to another thread, lets two users share one context, and shows
    the error when other code pops a context that gpuexec pushed.

    Prints (addresses differ):
        one context is current, another one is below it:
          | context 0x55d0c8a3f2a0 of device 0, current, pushed at examples/context_stack.c:62
          | context 0x55d0c8a1c8b0 of device 0, pushed at examples/context_stack.c:61
        a scope, left by return: the context was current inside, none is current after it
        another thread: the context was current there
        two users: after the first closed the context, 2 MiB were allocated; after the last, its
            handle is stale
        other code popped our context:
          | examples/context_stack.c:96: gpuexec_context_pop: the context opened at
              examples/context_stack.c:50,
          pushed at examples/context_stack.c:93, ... (GPUEXEC_WRONG_CONTEXT)
          |   cure: ...
*/
#include "example.h"
#include <pthread.h>
#define GPUEXEC_IMPLEMENTATION
#include "../gpuexec.h"

static void print_indented(const char *text) {
    for (; *text; text += strcspn(text, "\n") + 1)
        printf("  | %.*s\n", (int)strcspn(text, "\n"), text);
}
static void must(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "failed: %s\n%s", what, gpuexec_error_text());
    exit(1);
}

/* The device of the current context, by a direct driver call as other libraries make it; -1 if none
   is current. */
static int current_device(void) {
    union {
        void *p;
        int (*f)(int *);
    } get;
    int device = -1;
    get.p = gpuexec_driver_symbol("cuCtxGetDevice", 2000);
    return get.p && get.f(&device) == 0 ? device : -1;
}

static int works_in(gpuexec_context context) {
    GPUEXEC_CONTEXT_SCOPE(context) {
        if (current_device() >= 0) return 1; /* leaves the scope, which pops the context */
    }
    return 0;
}

static void *on_another_thread(void *context) {
    static int device = -1;
    GPUEXEC_CONTEXT_SCOPE(*(gpuexec_context *)context) device = current_device();
    /* each thread reports its own failures */
    must(gpuexec_take_error() == GPUEXEC_OK, "the other thread's scope");
    return &device;
}

int main(void) {
    char text[1000];
    gpuexec_context a = gpuexec_context_open(0, NULL), b = gpuexec_context_create(0, NULL);
    /* opening or creating one makes none current */
    must(current_device() == -1, "no context is current at first");

    gpuexec_context_push(a);
    gpuexec_context_push(b);
    must(gpuexec_take_error() == GPUEXEC_OK && current_device() == 0, "two pushes");
    gpuexec_context_stack_text(text, sizeof text);
    printf("one context is current, another one is below it:\n");
    print_indented(text);
    must(gpuexec_context_pop(b) == GPUEXEC_OK && gpuexec_context_is_current(a),
            "a pop restores the context below");
    must(gpuexec_context_pop(a) == GPUEXEC_OK && current_device() == -1,
            "the last pop leaves no context current");

    must(works_in(b) && current_device() == -1, "a scope");
    printf("a scope, left by return: the context was current inside, none is current after it\n");

    pthread_t thread; /* b is floating now: any thread can push it */
    void *device = NULL;
    must(pthread_create(&thread, NULL, on_another_thread, &b) == 0 &&
                    pthread_join(thread, &device) == 0,
            "the thread");
    must(*(int *)device == 0 && current_device() == -1,
            "the push on the other thread does not change this one");
    printf("another thread: the context was current there\n");

    /* a second user, which would be another library with its own copy of gpuexec */
    gpuexec_context user = gpuexec_context_attach(gpuexec_context_native(b));
    if (gpuexec_ok(user)) {
        must(gpuexec_context_close(b) == GPUEXEC_OK, "the first user closes the context");
        must(gpuexec_alloc(user, 2 << 20) != 0, "the context is still valid");
        must(gpuexec_context_close(user) == GPUEXEC_OK &&
                        gpuexec_context_sync(user) == GPUEXEC_STALE_HANDLE,
                "the last user closes the context");
        printf("two users: after the first closed the context, 2 MiB were allocated; after the "
               "last, its handle is stale\n");
    } else print_indented(gpuexec_why(user)); /* this driver does not count users */
    gpuexec_take_error();

    union {
        void *p;
        int (*f)(struct CUctx_st **);
    } pop;
    struct CUctx_st *popped = NULL;
    gpuexec_context_push(a);
    pop.p = gpuexec_driver_symbol("cuCtxPopCurrent", 4000);
    must(pop.p && pop.f(&popped) == 0 && popped == gpuexec_context_native(a),
            "other code pops our context");
    must(gpuexec_context_pop(a) == GPUEXEC_WRONG_CONTEXT, "gpuexec detects that");
    printf("other code popped our context:\n");
    print_indented(gpuexec_error_text());
    return gpuexec_shutdown() != GPUEXEC_OK;
}
