// Attempts to get out of a boundary. Each script prints "ESCAPED" if it succeeds and "held" if not (see world.ts).
import type { Policy } from "#ability/sandbox/sandbox.ts"

export type Probe = {
  title: string
  script: string
  policy?: Partial<Policy>
  /** It succeeds without a boundary, and harmlessly, so that is tested too. */
  works?: true
  /** It must be ended for this, or hit a limit by itself. */
  exceeded?: "memory" | "processes" | "time"
  /** The sandbox has a proxy, which allows one server of this machine. */
  viaProxy?: true
}

const files: Probe[] = [
  { title: "append to a file outside", script: `try eval 'echo x >>"$CANARY"'` },
  { title: "create a file in a folder outside", script: `try touch "$OUT/new"` },
  { title: "remove a file outside", script: `try rm -f "$CANARY"; [ -e "$CANARY" ] || echo ESCAPED` },
  { title: "rename a file outside", script: `try mv "$CANARY" "$OUT/other"` },
  { title: "change the mode of a file outside", script: `try chmod 777 "$CANARY"` },
  { title: "change the time of a file outside", script: `try touch -d @1 "$CANARY"` },
  {
    title: "write a start file of the shell in the home folder",
    script: `try eval 'echo x >>"$HOME/.profile"'`,
  },
  { title: "write a file of the system", script: `try eval ': >>/etc/passwd'; try touch /etc/vitamin-probe` },
  {
    title: "write through a symbolic link",
    script: `ln -s "$CANARY" free-link; try eval 'echo x >>free-link'`,
  },
  {
    title: "write through a link to a folder",
    script: `ln -s "$OUT" free-folder; try touch free-folder/new`,
  },
  { title: "hard link a file from outside", script: `try ln "$CANARY" free-hard` },
  { title: "hard link git's configuration", script: `try ln .git/config free-config` },
  { title: "rename the project itself", script: `cd /; try mv "$PROJECT" "$PROJECT-2"` },
  {
    title: "write through /proc/self/root",
    script: `try eval 'echo x >>"/proc/self/root$CANARY"'; try eval 'echo x >>"/proc/1/root$CANARY"'`,
  },
]

const reads: Probe[] = [
  { title: "read a private key", script: `shows cat "$HOME/.ssh/id_ed25519"`, works: true },
  { title: "read cloud credentials", script: `shows cat "$HOME/.aws/credentials"`, works: true },
  { title: "read .env", script: `shows cat .env`, works: true },
  {
    title: "read .env under another name",
    script: `try ln .env free-env; try mv .env free-env; shows cat free-env; ln -s .env free-soft; shows cat free-soft`,
  },
  {
    title: "read .env through /proc",
    script: `shows cat "/proc/self/cwd/.env"; shows cat "/proc/1/root$PROJECT/.env"`,
  },
  { title: "read the server's token", script: `shows cat "$HOME/.local/state/vitamin/token"`, works: true },
  { title: "read stored keys", script: `shows cat "$HOME/.local/share/vitamin/auth.json"`, works: true },
  {
    title: "read the person's configuration",
    script: `shows cat "$HOME/.config/vitamin/vitamin.jsonc"`,
    works: true,
  },
  { title: "read temporary files of others", script: `shows cat "$SHARED"`, works: true },
  { title: "read shared memory of others", script: `shows cat "$SHM"`, works: true },
  {
    title: "take a hidden folder away",
    script: `./probe umount "$HOME/.ssh"; try mv "$HOME/.ssh" "$HOME/x"; try rmdir "$HOME/.ssh"; shows cat "$HOME/.ssh/id_ed25519"`,
  },
]

const configuration: Probe[] = [
  { title: "create a git hook", script: `try eval 'echo x >.git/hooks/pre-commit'` },
  {
    title: "set git's configuration",
    script: `try git config core.fsmonitor /bin/true; try eval 'echo "[core]" >>.git/config'`,
  },
  {
    title: "replace git's configuration",
    script: `cp .git/config free-config; try mv -f free-config .git/config; try rm -f .git/config`,
  },
  {
    title: "move the repository away with its hooks",
    script: `try mv .git free-git; try rmdir .git; [ -e .git/config ] || echo ESCAPED`,
  },
  {
    title: "lead git to another configuration",
    script: `try eval 'echo ../free-git >.git/commondir'; try rm .git/commondir; try ln -sf x .git/commondir`,
  },
  {
    title: "add hooks for submodules and work trees",
    script: `try mkdir .git/modules/x; try mkdir .git/worktrees/x; try eval 'echo x >.git/info/attributes'`,
  },
  {
    title: "create vitamin's configuration",
    script: `try mkdir -p .vitamin/agents; try eval 'echo {} >.vitamin/config.jsonc'`,
  },
  {
    title: "create servers for agents",
    script: `try eval 'echo {} >.mcp.json'; try rmdir .mcp.json; try ln -s free-mcp .mcp.json`,
  },
  {
    title: "create hooks, plugins and settings of another agent",
    script: `for one in .claude .codex .gemini .opencode .cursor; do try mkdir $one/x; try rmdir $one; try ln -sfT free $one; try eval "echo x >$one/settings.json"; done`,
  },
  {
    title: "create the settings of an editor",
    script: `try mkdir .vscode/x; try rmdir .vscode; try mv .vscode free-vscode; try ln -sfT free .idea; { chmod 755 .vscode; echo x >.vscode/settings.json; } 2>/dev/null; held`,
  },
  { title: "create what a shell runs in the folder", script: `try eval 'echo x >.envrc'; try rm -rf .envrc` },
  {
    title: "replace a folder of hooks by a link",
    script: `try mv .husky free-husky; try ln -sfT free-husky .husky; try eval 'echo x >>.husky/pre-commit'`,
  },
]

const network: Probe[] = [
  {
    title: "connect to a server of this machine",
    script: `shows eval 'exec 9<>/dev/tcp/127.0.0.1/$TCP && cat <&9'`,
    works: true,
  },
  { title: "connect over IPv6", script: `shows eval 'exec 9<>/dev/tcp/::1/$TCP6 && cat <&9'`, works: true },
  { title: "send a datagram", script: `{ echo x >/dev/udp/127.0.0.1/$UDP; } 2>/dev/null; held` },
  {
    title: "connect to a metadata service",
    script: `try timeout 2 bash -c ': <>/dev/tcp/169.254.169.254/80'; try timeout 2 bash -c ': <>/dev/tcp/fd00:ec2::254/80'`,
  },
  {
    title: "connect to a public address",
    script: `try timeout 2 bash -c ': <>/dev/tcp/192.0.2.1/443'; try timeout 2 bash -c ': <>/dev/tcp/2001:db8::1/443'`,
  },
  {
    title: "resolve a name",
    script: `try timeout 2 getent hosts example.com; try timeout 2 bash -c 'echo >/dev/udp/192.0.2.53/53'`,
  },
  {
    title: "open a raw, packet, vsock, crypto or netfilter socket",
    script: `./probe raw; ./probe family 17; ./probe family 40; ./probe family 38; ./probe netfilter`,
  },
  { title: "connect to a socket in the home folder", script: `./probe connect "$SOCKET_HOME"`, works: true },
  { title: "connect to a socket in the project", script: `./probe connect "$SOCKET_PROJECT"`, works: true },
  { title: "connect to a socket in /tmp", script: `./probe connect "$SOCKET_TMP"`, works: true },
  { title: "connect to an abstract socket", script: `./probe connect "$ABSTRACT"`, works: true },
  {
    title: "connect to sockets of the desktop and of containers",
    script: `for one in /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket /tmp/.X11-unix/X0 /run/systemd/private; do ./probe connect $one; done; ls -A /run | grep -v "^vitamin$" | sed "s/^/ESCAPED /"; held`,
  },
]

const connectTo = (host: string) =>
  `shows proxy "CONNECT ${host} HTTP/1.1\\r\\nHost: localhost:$ALLOWED\\r\\n\\r\\n"`
const get = (url: string, more = "") =>
  `shows proxy "GET ${url} HTTP/1.1\\r\\n${more}Connection: close\\r\\n\\r\\n"`

/** With a proxy that allows one server of this machine. */
const throughProxy: Probe[] = [
  { title: "tunnel to a private address", script: connectTo("127.0.0.1:$TCP") },
  { title: "tunnel to another port of the allowed host", script: connectTo("localhost:$TCP") },
  { title: "tunnel to a decimal address", script: connectTo("2130706433:$TCP") },
  {
    title: "tunnel to a hexadecimal or octal address",
    script: `${connectTo("0x7f.1:$TCP")}; ${connectTo("0177.0.0.1:$TCP")}`,
  },
  {
    title: "tunnel to a mapped address",
    script: `${connectTo("[::ffff:127.0.0.1]:$TCP")}; ${connectTo("[::ffff:7f00:1]:$TCP")}`,
  },
  { title: "tunnel to an IPv6 address", script: `${connectTo("[::1]:$TCP6")}; ${connectTo("[::]:$TCP6")}` },
  { title: "tunnel with a user name", script: connectTo("localhost:$ALLOWED@127.0.0.1:$TCP") },
  {
    title: "tunnel to a metadata service",
    script: `${connectTo("169.254.169.254:80")}; ${get("http://169.254.169.254/latest/meta-data/")}`,
  },
  {
    title: "get with another Host header",
    script: `${get("http://localhost:$ALLOWED/", "Host: 127.0.0.1:$TCP\\\\r\\\\n")}; ${get("/", "Host: 127.0.0.1:$TCP\\\\r\\\\n")}`,
  },
  { title: "get with a user name", script: get("http://localhost:$ALLOWED@127.0.0.1:$TCP/") },
  {
    title: "get a second page over one connection",
    script: `shows proxy "GET http://localhost:$ALLOWED/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\nGET http://127.0.0.1:$TCP/ HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n"`,
  },
  {
    title: "get from a name that leads to a private address",
    script: `${get("http://localhost/")}; ${get("http://127.0.0.1.nip.io:$TCP/")}; ${get("http://localhost.:$TCP/")}`,
  },
  {
    title: "get another scheme",
    script: `${get("file:///etc/passwd")}; ${get("ftp://localhost:$ALLOWED/")}; ${get("unix:$SOCKET_HOME:/")}`,
  },
]

const processes: Probe[] = [
  {
    title: "end a process outside",
    script: `./probe kill $VICTIM; try kill -0 $VICTIM; kill -9 -1 2>/dev/null & wait; held`,
  },
  {
    title: "trace a process",
    script: `./probe ptrace $VICTIM; ./probe ptrace 1; ./probe traceme; ./probe vm_read 1; ./probe vm_read $VICTIM`,
  },
  {
    title: "read the environment of a process outside",
    script: `shows eval 'tr "\\0" "\\n" </proc/$VICTIM/environ'`,
    works: true,
  },
  {
    title: "use an inherited descriptor",
    script: `{ echo x >&$LEAK; } 2>/dev/null; shows cat /proc/self/fd/$LEAK; for fd in /proc/self/fd/*; do [ \${fd##*/} -le 3 ] || shows timeout 1 cat $fd; done`,
  },
  {
    title: "make namespaces",
    script: `for one in unshare_user unshare_net unshare_mount clone_user clone_pid clone3 setns; do ./probe $one; done; try unshare -Ur true`,
  },
  {
    title: "mount",
    script: `for one in mount tmpfs fsopen open_tree chroot pivot_root; do ./probe $one; done; ./probe umount /proc; ./probe handle /etc/passwd`,
  },
  {
    title: "become another user",
    script: `./probe setuid $(id -u); try su -c true; try sudo -n true; ./probe-setuid euid | { read -r said; [ "$(id -u)" = 0 ] && held || echo "$said"; }`,
  },
  {
    title: "use io_uring, bpf, perf, userfaultfd, keys and modules",
    script: `for one in io_uring bpf perf userfaultfd keyctl add_key module x32; do ./probe $one; done`,
  },
  { title: "type into a terminal", script: `./probe tiocsti; ./probe tioclinux; try eval ': >/dev/tty'` },
  {
    title: "use devices",
    script: `./probe mknod free-disk; ls /dev | grep -E "^(sd|vd|nvme|kvm|mem|kmsg|fuse|loop|dri)" | sed "s/^/ESCAPED /"; held`,
  },
  {
    title: "change settings of the kernel",
    script: `try eval 'cat /proc/sys/kernel/core_pattern >/proc/sys/kernel/core_pattern'; try eval ': >>/proc/sysrq-trigger'; try eval 'echo 1 >/proc/sys/vm/drop_caches'`,
  },
  {
    title: "change devices and control groups",
    script: `for one in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs /sys/kernel/mm/ksm/run; do [ ! -e $one ] || try eval "echo $$ >>$one"; done; held`,
  },
]

const bombs: Probe[] = [
  { title: "use more memory than allowed in one process", script: `./probe memory 2000` },
  {
    title: "use more memory than allowed in many processes",
    script: `for i in 1 2 3 4 5 6; do ./probe shared 90 & done; wait`,
    exceeded: "memory",
  },
  {
    title: "fill the memory with temporary files",
    script: `try dd if=/dev/zero of=/tmp/free bs=1M count=400; rm /tmp/free; try dd if=/dev/zero of=/dev/shm/free bs=1M count=400; try dd if=/dev/zero of=/dev/free bs=1M count=1`,
  },
  {
    title: "fork 4,000 processes",
    // Builtins count them meanwhile: a shell that cannot fork can still look.
    script: `exec 9<> <(:); bomb() { if (($1)); then bomb $(($1 - 1)) | bomb $(($1 - 1)) & else sleep 5; fi; }; bomb 11; for (( ; ; )); do set -- /proc/[0-9]*; [ $# -lt 300 ] || echo ESCAPED; read -t 0.05 -u 9; done`,
    policy: { timeout: 5_000 },
    exceeded: "processes",
  },
  {
    title: "run longer than allowed",
    script: `trap "" TERM; while :; do sleep 100; done`,
    policy: { timeout: 1_000 },
    exceeded: "time",
  },
  {
    title: "leave a daemon behind",
    script: `setsid -f bash -c 'sleep 1; touch free-daemon-1; sleep 100' </dev/null >/dev/null 2>&1; held`,
  },
]

export const probes: Probe[] = [
  ...[...files, ...reads, ...configuration, ...network, ...processes, ...bombs],
  ...throughProxy.map((probe) => ({
    ...probe,
    title: `${probe.title} through the proxy`,
    viaProxy: true as const,
  })),
]
