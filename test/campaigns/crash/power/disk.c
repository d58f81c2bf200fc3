// A disk that keeps a log, and that fails when told to: put in front of the C library with LD_PRELOAD.
//
// Every call that changes a file below DISK_ROOT is carried out and written to the file DISK_LOG, in the order in which
// it took effect: one lock is held over both. A sync is two records, before and after, and the lock is not held between
// them, so that what happens meanwhile is seen to happen meanwhile. Bytes that leave through a socket and name an order
// or show a key are logged before they leave. The shared memory beside a database (-shm) is lost with the power and is left out.
//
//   DISK_ROOT  the folder to watch, absolute
//   DISK_LOG   the log; appended to, so that several lives of a process share one
//   DISK_STOP  once this file exists the process is killed right after its next record: nothing is done and not logged
//   DISK_FAIL  "sync|write <end of the path, or *> <errno> <n> <once|always>": the n-th such call fails, or all from it
//   DISK_ARM   calls that may fail are counted once this file exists; without it from the start
//
// A write that fails has stored the first half of its bytes. The record is described in recording.ts.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
  WRITE = 1,
  TRUNCATE,
  CREATE,
  UNLINK,
  RENAME,
  LINK,
  MAKE_DIRECTORY,
  SYNC_BEGUN,
  SYNC_DONE,
  SYNC_FAILED,
  SENT,
  UNSEEN,
};

struct record {
  uint32_t kind, path_length, other_path_length, data_length;
  uint64_t file;   // the inode
  uint64_t number; // where a write begins, the size after a truncation, which sync began or ended
};

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static const char *root = "", *stop_file = "", *arm_file = "";
static size_t root_length;
static uint64_t syncs;

static char fail_kind[8], fail_path[64], fail_times[8];
static int fail_errno, fail_after, fail_seen;

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("DISK_LOG");
  if (path == NULL || getenv("DISK_ROOT") == NULL) return;
  root = getenv("DISK_ROOT");
  root_length = strlen(root);
  if (getenv("DISK_STOP") != NULL) stop_file = getenv("DISK_STOP");
  if (getenv("DISK_ARM") != NULL) arm_file = getenv("DISK_ARM");
  if (getenv("DISK_FAIL") != NULL)
    sscanf(getenv("DISK_FAIL"), "%7s %63s %d %d %7s", fail_kind, fail_path, &fail_errno, &fail_after, fail_times);
  log_file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_file < 0) abort();
}

static int ends_with(const char *path, const char *end) {
  size_t length = strlen(path), wanted = strlen(end);
  return length >= wanted && strcmp(path + length - wanted, end) == 0;
}

static int is_watched(const char *path) {
  return log_file >= 0 && strncmp(path, root, root_length) == 0 && !ends_with(path, "-shm");
}

// The path that a descriptor was opened by, if it is a file or a folder that is watched.
static int is_watched_file(int fd, struct stat *status, char path[PATH_MAX]) {
  char link[32];
  if (log_file < 0 || fstat(fd, status) != 0 || !(S_ISREG(status->st_mode) || S_ISDIR(status->st_mode))) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_watched(path);
}

// Called with the lock held.
static void put(enum kind kind, uint64_t file, uint64_t number, const char *path, const char *other, const void *data,
                size_t length) {
  struct record record = {kind, strlen(path), strlen(other), length, file, number};
  struct iovec parts[] = {{&record, sizeof record},
                          {(void *)path, record.path_length},
                          {(void *)other, record.other_path_length},
                          {(void *)data, length}};
  int before = errno;
  ssize_t whole = sizeof record + record.path_length + record.other_path_length + length;
  if (syscall(SYS_writev, log_file, parts, 4) != whole) abort();
  if (syscall(SYS_faccessat, AT_FDCWD, stop_file, F_OK) == 0) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
  errno = before;
}

// Whether this call is one that has to fail; errno then says how. Called with the lock held.
static int fails(const char *kind, const char *path) {
  if (strcmp(kind, fail_kind) != 0 || !(strcmp(fail_path, "*") == 0 || ends_with(path, fail_path))) return 0;
  if (*arm_file != 0 && syscall(SYS_faccessat, AT_FDCWD, arm_file, F_OK) != 0) return 0;
  fail_seen += 1;
  if (fail_seen < fail_after || (fail_seen > fail_after && strcmp(fail_times, "once") == 0)) return 0;
  errno = fail_errno;
  return 1;
}

static ssize_t write_watched(int fd, const struct stat *status, const char *path, const void *data, size_t length,
                             off_t offset) {
  pthread_mutex_lock(&turn);
  int has_failed = fails("write", path);
  int reason = errno;
  ssize_t written = syscall(SYS_pwrite64, fd, data, has_failed ? length / 2 : length, offset);
  if (written > 0) put(WRITE, status->st_ino, offset, path, "", data, written);
  pthread_mutex_unlock(&turn);
  if (!has_failed) return written;
  errno = reason;
  return -1;
}

static int has(const char *bytes, size_t length, const char *mark) {
  return memmem(bytes, length, mark, strlen(mark)) != NULL;
}

// Answers about orders, and keys that are shown, as they leave.
static void log_sent(int fd, const struct iovec *parts, int count) {
  struct stat status;
  size_t length = 0;
  if (log_file < 0 || fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  for (int index = 0; index < count; index += 1) length += parts[index].iov_len;
  char *bytes = malloc(length + 1), *end = bytes;
  if (bytes == NULL) abort();
  for (int index = 0; index < count; index += 1) end = mempcpy(end, parts[index].iov_base, parts[index].iov_len);
  if (has(bytes, length, "\"clientOrderId\":") || has(bytes, length, "apiKey")) {
    pthread_mutex_lock(&turn);
    put(SENT, fd, 0, "", "", bytes, length);
    pthread_mutex_unlock(&turn);
  }
  free(bytes);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  struct stat status;
  char path[PATH_MAX];
  if (!is_watched_file(fd, &status, path)) return syscall(SYS_pwrite64, fd, data, length, offset);
  return write_watched(fd, &status, path, data, length, offset);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return pwrite64(fd, data, length, offset); }

ssize_t write(int fd, const void *data, size_t length) {
  struct stat status;
  char path[PATH_MAX];
  if (!is_watched_file(fd, &status, path)) {
    struct iovec part = {(void *)data, length};
    log_sent(fd, &part, 1);
    return syscall(SYS_write, fd, data, length);
  }
  int whence = fcntl(fd, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR;
  ssize_t written = write_watched(fd, &status, path, data, length, lseek(fd, 0, whence));
  if (written > 0) lseek(fd, written, SEEK_CUR);
  return written;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  struct stat status;
  char path[PATH_MAX];
  if (is_watched_file(fd, &status, path) && count > 0) return write(fd, parts[0].iov_base, parts[0].iov_len);
  log_sent(fd, parts, count);
  return syscall(SYS_writev, fd, parts, count);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  struct stat status;
  char path[PATH_MAX];
  if (is_watched_file(fd, &status, path) && count > 0)
    return pwrite64(fd, parts[0].iov_base, parts[0].iov_len, offset);
  return syscall(SYS_pwritev, fd, parts, count, offset, 0);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  return pwritev64(fd, parts, count, offset);
}

ssize_t send(int fd, const void *data, size_t length, int flags) {
  struct iovec part = {(void *)data, length};
  log_sent(fd, &part, 1);
  return syscall(SYS_sendto, fd, data, length, flags, NULL, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  log_sent(fd, message->msg_iov, message->msg_iovlen);
  return syscall(SYS_sendmsg, fd, message, flags);
}

// Syncing a folder is what makes its entries last.
static int sync_with(long call, int fd) {
  struct stat status;
  char path[PATH_MAX];
  if (!is_watched_file(fd, &status, path)) return syscall(call, fd);
  pthread_mutex_lock(&turn);
  uint64_t number = ++syncs;
  int has_failed = fails("sync", path);
  int reason = errno;
  put(SYNC_BEGUN, status.st_ino, number, path, "", "", 0);
  pthread_mutex_unlock(&turn);
  int result = has_failed ? -1 : syscall(call, fd);
  if (!has_failed) reason = errno;
  pthread_mutex_lock(&turn);
  put(result == 0 ? SYNC_DONE : SYNC_FAILED, status.st_ino, number, path, "", "", 0);
  pthread_mutex_unlock(&turn);
  errno = reason;
  return result;
}

int fsync(int fd) { return sync_with(SYS_fsync, fd); }

int fdatasync(int fd) { return sync_with(SYS_fdatasync, fd); }

int ftruncate64(int fd, off64_t size) {
  struct stat status;
  char path[PATH_MAX];
  if (!is_watched_file(fd, &status, path)) return syscall(SYS_ftruncate, fd, size);
  pthread_mutex_lock(&turn);
  int result = syscall(SYS_ftruncate, fd, size);
  if (result == 0) put(TRUNCATE, status.st_ino, size, path, "", "", 0);
  pthread_mutex_unlock(&turn);
  return result;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

static int open_at(int folder, const char *path, int flags, mode_t mode) {
  struct stat status;
  if (!is_watched(path) || !(flags & O_ACCMODE)) return syscall(SYS_openat, folder, path, flags, mode);
  pthread_mutex_lock(&turn);
  int was_there = stat(path, &status) == 0;
  int fd = syscall(SYS_openat, folder, path, flags, mode);
  if (fd >= 0 && fstat(fd, &status) == 0) {
    if (!was_there) put(CREATE, status.st_ino, 0, path, "", "", 0);
    else if (flags & O_TRUNC) put(TRUNCATE, status.st_ino, 0, path, "", "", 0);
  }
  pthread_mutex_unlock(&turn);
  return fd;
}

#define OPEN(name, parameters, folder)                            \
  int name parameters {                                           \
    mode_t mode = 0;                                              \
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {    \
      va_list rest;                                               \
      va_start(rest, flags);                                      \
      mode = va_arg(rest, mode_t);                                \
      va_end(rest);                                               \
    }                                                             \
    return open_at(folder, path, flags, mode);                    \
  }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD)
OPEN(openat, (int folder, const char *path, int flags, ...), folder)
OPEN(openat64, (int folder, const char *path, int flags, ...), folder)

// A change of names. `other` is the second name, or empty.
static int change_names(enum kind kind, const char *path, const char *other, long call, long flags) {
  struct stat status = {0};
  int is_logged = is_watched(path);
  pthread_mutex_lock(&turn);
  if (is_logged && kind != MAKE_DIRECTORY) stat(path, &status);
  int result = *other == 0 ? syscall(call, AT_FDCWD, path, flags)
                           : syscall(call, AT_FDCWD, path, AT_FDCWD, other, flags);
  if (result == 0 && is_logged && kind == MAKE_DIRECTORY) stat(path, &status);
  if (result == 0 && is_logged) put(kind, status.st_ino, 0, path, other, "", 0);
  pthread_mutex_unlock(&turn);
  return result;
}

int unlink(const char *path) { return change_names(UNLINK, path, "", SYS_unlinkat, 0); }
int rename(const char *path, const char *other) { return change_names(RENAME, path, other, SYS_renameat2, 0); }
int link(const char *path, const char *other) { return change_names(LINK, path, other, SYS_linkat, 0); }
int mkdir(const char *path, mode_t mode) { return change_names(MAKE_DIRECTORY, path, "", SYS_mkdirat, mode); }

// What is written through memory goes past this disk; the log says so, and whoever reads it refuses it.
void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) {
  struct stat status;
  char path[PATH_MAX];
  if (fd >= 0 && flags & MAP_SHARED && protection & PROT_WRITE && is_watched_file(fd, &status, path)) {
    pthread_mutex_lock(&turn);
    put(UNSEEN, status.st_ino, 0, path, "", "", 0);
    pthread_mutex_unlock(&turn);
  }
  return (void *)syscall(SYS_mmap, address, length, protection, flags, fd, offset);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  return mmap64(address, length, protection, flags, fd, offset);
}
