/* peer.h - Python's libraries in a contest: another process (peer.py), which reads a number of
   calls, and prints the time they took. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* posix_spawn */
#endif
#include "bench.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct peer {
    const char *name;
    FILE *to, *from;
    pid_t process;
    char says[400];
} peer;

/* 1, with its name and version in says; or 0, with the reason */
static inline int peer_begins(peer *p) {
    extern char **environ;
    char *arguments[4] = { (char *)(uintptr_t) "python3", (char *)(uintptr_t) "tests/bench/peer.py",
        NULL, NULL };
    int to[2], from[2], started;
    posix_spawn_file_actions_t actions;
    arguments[2] = (char *)(uintptr_t)p->name;
    strcpy(p->says, "cannot start python3");
    if (pipe(to) || pipe(from) || fcntl(to[1], F_SETFD, FD_CLOEXEC) ||
            fcntl(from[0], F_SETFD, FD_CLOEXEC))
        return 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from[1], 1);
    started = posix_spawnp(&p->process, "python3", &actions, NULL, arguments, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(to[0]);
    close(from[1]);
    p->to = fdopen(to[1], "w");
    p->from = fdopen(from[0], "r");
    if (!started) return 0;
    if (!fgets(p->says, sizeof p->says, p->from)) strcpy(p->says, "it exited at once");
    p->says[strcspn(p->says, "\n")] = 0;
    return strncmp(p->says, "ready ", 6) == 0;
}
static inline double peer_burst(peer *p, int count) {
    char line[100];
    if (fprintf(p->to, "%d\n", count) < 0 || fflush(p->to) || !fgets(line, sizeof line, p->from)) {
        fprintf(stderr, "%s exited\n", p->name);
        exit(1);
    }
    return atof(line);
}
static inline void peer_ends(peer *p) {
    if (!p->to) return;
    fclose(p->to);
    fclose(p->from);
    waitpid(p->process, NULL, 0);
    p->to = NULL;
}
