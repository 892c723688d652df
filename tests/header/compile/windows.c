/* windows.c - a DLL with a copy of gpuexec, and a host that unloads it while a thread that called
   it is still running: that thread must end cleanly, whether or not the DLL called
   gpuexec_shutdown. Needs no driver: without one the calls fail, and each thread keeps its failure.
     x86_64-w64-mingw32-gcc -shared tests/header/compile/windows.c -o windows.dll &&
     x86_64-w64-mingw32-gcc -DHOST tests/header/compile/windows.c -o windows.exe
   Prints `6 times loaded and unloaded`. */
#ifdef HOST
#include <windows.h>
#include <stdio.h>

static int (*try_it)(void);
static HANDLE tried, unloaded;
static int in_main, in_thread;

static DWORD WINAPI work(void *unused) {
    (void)unused;
    in_thread = try_it();
    SetEvent(tried);
    WaitForSingleObject(unloaded, INFINITE);
    return 7;
}

int main(void) {
    int round;
    for (round = 0; round < 6; round++) {
        HMODULE library = LoadLibraryA("windows.dll");
        union {
            FARPROC f;
            int (*call)(void);
        } u;
        HANDLE thread;
        DWORD code = 0;
        if (!library) return 1;
        u.f = GetProcAddress(library, "plugin_try");
        try_it = u.call;
        tried = CreateEventA(NULL, 0, 0, NULL);
        unloaded = CreateEventA(NULL, 0, 0, NULL);
        in_main = try_it();
        thread = CreateThread(NULL, 0, work, NULL, 0, NULL);
        WaitForSingleObject(tried, INFINITE);
        if (in_main == 0 || in_main != in_thread) return 2;
        if (round % 3 > 0) {
            u.f = GetProcAddress(library, "plugin_close");
            u.call();
        }
        if (round % 3 > 1 && try_it() != in_main) return 3; /* started again */
        if (!FreeLibrary(library) || GetModuleHandleA("windows.dll")) return 4;
        SetEvent(unloaded);
        WaitForSingleObject(thread, INFINITE);
        if (!GetExitCodeThread(thread, &code) || code != 7) return 5;
        CloseHandle(thread);
        CloseHandle(tried);
        CloseHandle(unloaded);
    }
    printf("%d times loaded and unloaded\n", round);
    return 0;
}
#else
#define GPUEXEC_IMPLEMENTATION
#include "../../../gpuexec.h"
__declspec(dllexport) int plugin_try(void);
__declspec(dllexport) int plugin_close(void);

int plugin_try(void) {
    gpuexec_context_open(0, NULL);
    return (int)gpuexec_take_error();
}

int plugin_close(void) { return (int)gpuexec_shutdown(); }
#endif
