/* Calls of the system that fail, for crates/cli/tests/faults.rs: loaded before the C library, by
 * LD_PRELOAD. The call number FAULT_CALL fails with the error FAULT_ERROR; without an error, it
 * reads or writes one byte only. Only calls that do so are interrupted (EINTR). FAULT_COUNT names a file that gets the number of calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;
static long chosen, error;

__attribute__((constructor)) static void start(void) {
    const char *call = getenv("FAULT_CALL"), *number = getenv("FAULT_ERROR");
    chosen = call ? atol(call) : 0;
    error = number ? atol(number) : 0;
}

__attribute__((destructor)) static void finish(void) {
    const char *path = getenv("FAULT_COUNT");
    long count = atomic_load(&calls);
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld", count);
        fclose(file);
    }
}

/* Counts a call, and returns whether it is the one that fails. */
static int fails(void) { return atomic_fetch_add(&calls, 1) + 1 == chosen; }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define FAULT(result, name, parameters, arguments)                                                 \
    result name parameters {                                                                       \
        if (fails() && error && error != EINTR) return errno = (int)error, (result)-1;                               \
        return REAL(name) arguments;                                                               \
    }

/* A call that may take less than it is asked for. */
#define SHORT(name, parameters, whole, one)                                                        \
    ssize_t name parameters {                                                                      \
        if (!fails()) return REAL(name) whole;                                                     \
        return error ? (errno = (int)error, -1) : REAL(name) one;                                  \
    }

SHORT(read, (int fd, void *to, size_t len), (fd, to, len), (fd, to, len > 0))
SHORT(write, (int fd, const void *from, size_t len), (fd, from, len), (fd, from, len > 0))
SHORT(copy_file_range, (int in, off64_t *from, int out, off64_t *to, size_t len, unsigned flags),
      (in, from, out, to, len, flags), (in, from, out, to, len > 0, flags))

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if (fails() && error && error != EINTR) return errno = (int)error, -1;
    return REAL(open64)(path, flags, mode);
}

FAULT(int, rename, (const char *from, const char *to), (from, to))
FAULT(int, mkdir, (const char *path, mode_t mode), (path, mode))
FAULT(int, fsync, (int fd), (fd))
FAULT(int, fchmod, (int fd, mode_t mode), (fd, mode))
FAULT(int, fchown, (int fd, uid_t owner, gid_t group), (fd, owner, group))
FAULT(int, flock, (int fd, int how), (fd, how))
FAULT(ssize_t, readlink, (const char *path, char *to, size_t len), (path, to, len))

/* Memory that is no file's is not what fails here: Rust ends without its stack of signals. */
void *mmap64(void *at, size_t len, int access, int how, int fd, off64_t from) {
    if (fd >= 0 && fails() && error && error != EINTR) return errno = (int)error, MAP_FAILED;
    return REAL(mmap64)(at, len, access, how, fd, from);
}
