// Makes one system call that a program in a sandbox must not be able to make, and prints "ESCAPED" if it worked, else
// the error. One argument names the call; some take another one.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char buffer[4096];

/** Connects to a socket in the file system, or with "@" to an abstract one. */
static long connectTo(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  if (path[0] == '@') address.sun_path[0] = 0;
  return connect(fd, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + strlen(path));
}

/** Types into a terminal of its own, which works unless the call is refused. */
static long typeInto(unsigned long request) {
  char letter = 'x';
  setsid();
  int terminal = open("/dev/ptmx", O_RDWR), inner;
  if (terminal < 0 || grantpt(terminal) || unlockpt(terminal)) return -1;
  inner = open(ptsname(terminal), O_RDWR);
  ioctl(inner, TIOCSCTTY, 0);
  return ioctl(inner, request, &letter);
}

static long attach(pid_t pid) {
  long result = ptrace(PTRACE_ATTACH, pid, 0, 0);
  if (result == 0) ptrace(PTRACE_DETACH, pid, 0, 0);
  return result;
}

static long handleOf(const char *path) {
  struct { struct file_handle head; char rest[128]; } handle = {.head = {.handle_bytes = 128}};
  int mount;
  if (name_to_handle_at(AT_FDCWD, path, &handle.head, &mount, 0)) return -1;
  int root = open("/", O_RDONLY);
  return open_by_handle_at(root, &handle.head, O_RDONLY);
}

/** clone3 with the flag for a user namespace, in memory that a filter cannot read. */
static long cloneNew(void) {
  unsigned long long arguments[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
  long pid = syscall(SYS_clone3, arguments, sizeof arguments);
  if (pid == 0) _exit(0);
  return pid;
}

static long cloneOld(int flags) {
  long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
  if (pid == 0) _exit(0);
  return pid;
}

/** Through a number of the x32 interface. */
static long x32(void) {
#ifdef __x86_64__
  return syscall(0x40000000 | 39);
#else
  errno = ENOSYS;
  return -1;
#endif
}

int main(int count, char **words) {
  const char *what = words[1], *more = count > 2 ? words[2] : "";
  long result = -1;
  errno = 0;
#define is(name) (strcmp(what, name) == 0)
  if (is("connect")) result = connectTo(more);
  else if (is("tiocsti")) result = typeInto(TIOCSTI);
  else if (is("tioclinux")) result = typeInto(0x541c);
  else if (is("ptrace")) result = attach(atoi(more));
  else if (is("traceme")) result = ptrace(PTRACE_TRACEME, 0, 0, 0);
  else if (is("vm_read")) {
    struct { void *base; size_t size; } here = {buffer, 8}, there = {buffer, 8};
    result = syscall(SYS_process_vm_readv, atoi(more), &here, 1, &there, 1, 0);
  } else if (is("kill")) result = kill(atoi(more), SIGKILL);
  else if (is("unshare_user")) result = unshare(CLONE_NEWUSER);
  else if (is("unshare_net")) result = unshare(CLONE_NEWNET);
  else if (is("unshare_mount")) result = unshare(CLONE_NEWNS);
  else if (is("clone_user")) result = cloneOld(CLONE_NEWUSER);
  else if (is("clone_pid")) result = cloneOld(CLONE_NEWPID);
  else if (is("clone3")) result = cloneNew();
  else if (is("setns")) result = setns(open("/proc/1/ns/mnt", O_RDONLY), 0);
  else if (is("mount")) result = mount("none", "/", 0, MS_REMOUNT | MS_BIND, 0);
  else if (is("tmpfs")) result = mount("none", "/tmp", "tmpfs", 0, 0);
  else if (is("umount")) result = umount2(more, MNT_DETACH);
  else if (is("fsopen")) result = syscall(SYS_fsopen, "tmpfs", 0);
  else if (is("open_tree")) result = syscall(SYS_open_tree, AT_FDCWD, "/", 1);
  else if (is("chroot")) result = chroot("/tmp");
  else if (is("pivot_root")) result = syscall(SYS_pivot_root, "/tmp", "/tmp");
  else if (is("handle")) result = handleOf(more);
  else if (is("io_uring")) result = syscall(SYS_io_uring_setup, 1, buffer);
  else if (is("bpf")) result = syscall(SYS_bpf, 0, buffer, 64);
  else if (is("perf")) result = syscall(SYS_perf_event_open, buffer, 0, -1, -1, 0);
  else if (is("userfaultfd")) result = syscall(SYS_userfaultfd, 1);
  else if (is("keyctl")) result = syscall(SYS_keyctl, 0, -3, 0, 0, 0);
  else if (is("add_key")) result = syscall(SYS_add_key, "user", "probe", "x", 1, -3);
  else if (is("module")) result = syscall(SYS_init_module, buffer, 1, "");
  else if (is("x32")) result = x32();
  else if (is("setuid")) result = setuid(0) == 0 && getuid() == 0 && atoi(more) != 0 ? 0 : -1;
  else if (is("euid")) result = geteuid() == 0 ? 0 : -1;
  else if (is("mknod")) result = mknod(more, S_IFBLK | 0600, makedev(8, 0));
  else if (is("family")) result = socket(atoi(more), atoi(more) == AF_VSOCK ? SOCK_STREAM : SOCK_RAW, 0);
  else if (is("netfilter")) result = socket(AF_NETLINK, SOCK_RAW, 12);
  else if (is("raw")) result = socket(AF_INET, SOCK_RAW, 1);
  else if (is("shm")) result = shmget(atoi(more), 0, 0);
  else if (is("memory")) {
    size_t size = (size_t)atoi(more) << 20;
    char *all = malloc(size);
    if (all) memset(all, 1, size);
    result = all ? 0 : -1;
  } else if (is("shared")) {
    size_t size = (size_t)atoi(more) << 20;
    char *all = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all != MAP_FAILED) memset(all, 1, size);
    sleep(5);
    result = all == MAP_FAILED ? -1 : 0;
  } else {
    printf("unknown probe %s\n", what);
    return 2;
  }
  if (result >= 0) printf("ESCAPED %s\n", what);
  else printf("held: %s\n", strerror(errno));
  return 0;
}
