/*
 * Loaded before the C library (LD_PRELOAD), makes a process that opens a store wait between reading its valid state and mapping it: at the
 * first mapping of a file `data.mdb` it makes the file `waiting` in the folder WAIT_DIR, and goes on when there is a file `go` there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PATH_BYTES 4096

static int has_waited;

static void wait_once(int fd) {
  const char *dir = getenv("WAIT_DIR");
  char link[64], path[PATH_BYTES];
  if (dir == NULL || fd < 0 || has_waited) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_BYTES - 1);
  if (length < 9 || strncmp(path + length - 9, "/data.mdb", 9) != 0) return;
  has_waited = 1;
  snprintf(path, PATH_BYTES, "%s/waiting", dir);
  close(open(path, O_CREAT | O_WRONLY, 0600));
  snprintf(path, PATH_BYTES, "%s/go", dir);
  while (access(path, F_OK) != 0) usleep(1000);
}

typedef void *(*map)(void *, size_t, int, int, int, off_t);

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
  wait_once(fd);
  return ((map)dlsym(RTLD_NEXT, "mmap"))(at, length, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
  wait_once(fd);
  return ((map)dlsym(RTLD_NEXT, "mmap64"))(at, length, protection, flags, fd, offset);
}
