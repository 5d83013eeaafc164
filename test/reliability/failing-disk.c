/*
 * Loaded before the C library (LD_PRELOAD), makes system calls on a store's file fail or hang while files of these names are in the
 * folder FAULT_DIR:
 *   sync   fsync and fdatasync fail with EIO, and bring nothing to the disk
 *   stall  fsync and fdatasync do not return
 *   write  writes fail with EIO but to the first two pages, so that a flush of what was written before ends well
 *   meta   writes to the first two pages, which name the valid state, fail with EIO
 *   mark   of these only the mark of the state that was flushed, in the second half of the first page, cannot be written
 * Every other file of the process is left alone.
 *
 * KILL_AT="CALL PATTERN COUNT" kills the process (SIGKILL) at the COUNTth call of this kind on a path that the pattern (fnmatch) fits, once
 * there is a file `kill` in FAULT_DIR. Calls: write, sync, rename and unlink, before they are carried out; renamed: after it was.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define META_BYTES 8192
#define MARK_FROM 2048
#define MARK_END 4096

#define PATH_BYTES 4096

/* The path that is open as fd; empty for what has none. */
static void path_of(int fd, char path[PATH_BYTES]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_BYTES - 1);
  path[length < 0 ? 0 : length] = 0;
}

static int is_store(int fd) {
  char path[PATH_BYTES];
  path_of(fd, path);
  return fnmatch("*/data.mdb", path, 0) == 0;
}

static int is_asked(const char *fault) {
  char path[PATH_BYTES];
  const char *dir = getenv("FAULT_DIR");
  if (dir == NULL) return 0;
  snprintf(path, sizeof path, "%s/%s", dir, fault);
  return access(path, F_OK) == 0;
}

static int fails_to_sync(int fd) {
  int kept = errno;
  int fails = 0;
  if (is_store(fd)) {
    while (is_asked("stall")) usleep(5000);
    fails = is_asked("sync");
  }
  errno = kept;
  return fails;
}

static int fails_to_write(int fd, off64_t offset) {
  int kept = errno;
  int is_meta = offset < META_BYTES;
  int is_mark = offset >= MARK_FROM && offset < MARK_END;
  int fails = is_store(fd) && (is_asked(is_meta ? "meta" : "write") || (is_mark && is_asked("mark")));
  errno = kept;
  return fails;
}

static void die_at(const char *call, const char *path) {
  static int seen;
  char wanted[32], pattern[256];
  int count;
  const char *point = getenv("KILL_AT");
  if (point == NULL || sscanf(point, "%31s %255s %d", wanted, pattern, &count) != 3) return;
  if (strcmp(call, wanted) != 0 || fnmatch(pattern, path, 0) != 0 || !is_asked("kill")) return;
  if (__sync_add_and_fetch(&seen, 1) == count) kill(getpid(), SIGKILL);
}

static void die_at_file(const char *call, int fd) {
  int kept = errno;
  char path[PATH_BYTES];
  if (getenv("KILL_AT") == NULL) return;
  path_of(fd, path);
  die_at(call, path);
  errno = kept;
}

#define IO_ERROR (errno = EIO, -1)

int fsync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  die_at_file("sync", fd);
  return fails_to_sync(fd) ? IO_ERROR : real(fd);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  die_at_file("sync", fd);
  return fails_to_sync(fd) ? IO_ERROR : real(fd);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
  static ssize_t (*real)(int, const void *, size_t, off64_t);
  if (real == NULL) real = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  return fails_to_write(fd, offset) ? IO_ERROR : real(fd, bytes, count, offset);
}

ssize_t write(int fd, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  if (real == NULL) real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  die_at_file("write", fd);
  return real(fd, bytes, count);
}

int rename(const char *from, const char *to) {
  static int (*real)(const char *, const char *);
  if (real == NULL) real = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  die_at("rename", from);
  int result = real(from, to);
  if (result == 0) die_at("renamed", from);
  return result;
}

int unlink(const char *path) {
  static int (*real)(const char *);
  if (real == NULL) real = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
  die_at("unlink", path);
  return real(path);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  static ssize_t (*real)(int, const struct iovec *, int);
  if (real == NULL) real = (ssize_t(*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev");
  die_at_file("write", fd);
  return fails_to_write(fd, lseek64(fd, 0, SEEK_CUR)) ? IO_ERROR : real(fd, parts, count);
}
