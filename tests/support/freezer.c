/* freezer.c - runs a command while stopping and continuing its process group at random moments, as
   a container does that has used up its share of a processor. A test that relies on time, and not
   on synchronization, fails here.

       build/freezer SEED COMMAND ARGUMENT...

   The group runs for 1 to 300 ms, then stops for 100 to 900 ms; the seed decides each of these
   times. The exit code is the command's (128 + N if signal N killed it). When freezer is
   terminated, and when the command has ended, it kills what is left of the group. A command that
   makes a group for itself escapes: put `timeout` before freezer. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_FROM = 1, RUNS_TO = 300, STOPS_FROM = 100, STOPS_TO = 900 }; /* milliseconds */

static uint64_t state;

static long between(long from, long to) { /* a step of splitmix64 */
    uint64_t x = state += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    x ^= x >> 31;
    return from + (long)(x % (uint64_t)(to - from + 1));
}

/* Waits for this time. Returns earlier with the number of a signal. */
static int wait_for(const sigset_t *signals, long ms) {
    struct timespec t;
    t.tv_sec = ms / 1000;
    t.tv_nsec = ms % 1000 * 1000000;
    return sigtimedwait(signals, NULL, &t);
}

int main(int argc, char **argv) {
    struct sigaction only_ends;
    sigset_t signals, before;
    int status = 0, got, stopped = 0;
    pid_t child;
    if (argc < 3) {
        fputs("usage: freezer SEED COMMAND ARGUMENT...\n", stderr);
        return 2;
    }
    state = strtoull(argv[1], NULL, 10);
    memset(&only_ends, 0, sizeof only_ends);
    only_ends.sa_handler = SIG_DFL;
    only_ends.sa_flags = SA_NOCLDSTOP; /* no SIGCHLD when the child stops or continues */
    sigaction(SIGCHLD, &only_ends, NULL);
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    if ((child = fork()) < 0) {
        perror("freezer: fork");
        return 2;
    }
    if (child == 0) {
        setpgid(0, 0);
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    setpgid(child, child); /* whichever of the two comes first */
    for (;;) {
        got = stopped ? wait_for(&signals, between(STOPS_FROM, STOPS_TO))
                      : wait_for(&signals, between(RUNS_FROM, RUNS_TO));
        if (got > 0) break;
        stopped = !stopped;
        kill(-child, stopped ? SIGSTOP : SIGCONT);
    }
    kill(-child, SIGKILL); /* before waitpid, which frees the group's number */
    waitpid(child, &status, 0);
    if (got != SIGCHLD) return 128 + got;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
