// The first code that runs inside. It tries what must not work, and refuses to go on if any of it does. Then it opens
// the way to the proxy, sets the limits, and becomes the program. A program that waits to be told what to do starts beside
// the attempts; if one of them works, it is killed.

/** The stderr of the program, until it has started: the launcher and bubblewrap report on the usual one. */
export const stderrFd = 4
/** The filter of system calls, which bubblewrap reads. */
export const filterFd = 5
/** The port of the way to the proxy. The sandbox has its own loopback, so it is always free. */
export const proxyPort = 3128
/** The variable that makes Node use the proxy. */
export const forNode = "NODE_USE_ENV_PROXY"
/** Where the socket of the proxy is. */
export const gateFolder = "/run/vitamin"
export const ready = "ready"
/** The launcher's last question: a port of this machine that takes connections. The answer comes on the descriptor on which it
 * asks. */
export const asksPort = "port"

/** Forwards connections of programs that know only addresses to the socket of the proxy. */
const bridge = `
const net = require("node:net")
const server = net.createServer({ allowHalfOpen: true }, (from) => {
  const to = net.connect({ path: "${gateFolder}/proxy", allowHalfOpen: true })
  const end = () => { from.destroy(); to.destroy() }
  from.on("error", end).pipe(to.on("error", end)).pipe(from)
})
server.listen(${proxyPort}, "127.0.0.1", () => process.stdout.write("${ready}\\n"))
`

/** For bash. `: >>` opens a file and writes nothing. The attempts beside a program are made by a grandchild, which the first
 * process of the namespace waits for: the program itself would not. */
const script = `
refuse() { echo "$1" >&2; [[ $waits ]] && kill -KILL $$; exit 126; }
outside=$1 hidden=$2 writable=$3 keep=$4 node=$5 data=$6 processes=$7 waits=$8
shift 8
prove() {
type -P unshare >/dev/null && { unshare -U true 2>/dev/null & }
attempt=$!
{ : >>"$outside"; } 2>/dev/null && refuse "the file $outside could be written"
{ : <"$hidden"; } 2>/dev/null && refuse "a hidden file could be read"
set -f
mapfile -t lines </proc/self/mountinfo
for line in "\${lines[@]}"; do
  words=($line)
  printf -v path %b "\${words[4]}"
  # A mount that cannot be seen is covered, or in a folder that is closed to this user.
  [[ ,\${words[5]}, = *,ro,* || $path/ = /dev/* || $writable = *$'\\n'"$path"$'\\n'* || ! -e $path ]] ||
    refuse "$path could be written"
  [[ \${words[6]} != master:* && \${words[6]} != shared:* ]] || refuse "later mounts would appear in $path"
done
seen=
mapfile -t lines </proc/self/status
for line in "\${lines[@]}"; do
  words=($line)
  case $line in
    Cap*) [[ \${words[1]} =~ ^0+$ ]] || refuse "it has capabilities"; seen+=c ;;
    NoNewPrivs:*) [[ \${words[1]} = 1 ]] || refuse "setuid programs work"; seen+=n ;;
    Seccomp:*) [[ \${words[1]} = 2 ]] || refuse "system calls are not filtered"; seen+=s ;;
  esac
done
set +f
[[ $seen = cccccns ]] || refuse "the kernel does not say which rights it has"
for one in /proc/self/fd/*; do
  fd=\${one##*/}
  [[ " 0 1 2 ${stderrFd} $keep " = *" $fd "* || ! -e $one || $one -ef /dev/null ]] || refuse "descriptor $fd is open"
done
echo ${asksPort} >&2
read -r port <&2
[[ $port =~ ^[0-9]+$ ]] || refuse "it was not told which port to try"
{ : <>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null && refuse "the network of this machine could be reached"
[[ $attempt ]] && wait "$attempt" && refuse "a new user namespace could be made"
return 0
}
[[ $waits ]] || prove
if [[ $node ]]; then
  closing=
  for fd in ${stderrFd} $keep; do closing+="exec $fd>&-;"; done
  exec {way}< <(eval "$closing"; NODE_OPTIONS= exec "$node" -e "$0" </dev/null 2>/dev/null)
  read -r _ <&$way || refuse "the way to its proxy could not be opened"
  exec {way}<&-
fi
ulimit -c 0
[[ $data ]] && ulimit -d "$data"
[[ $processes ]] && ulimit -u "$processes"
if [[ $waits ]]; then ( (prove; echo ${ready} >&2) & ); else echo ${ready} >&2; fi
exec 2>&${stderrFd} ${stderrFd}>&-
exec -- "$@"
`

export type Launch = {
  /** A file that could be written if there were no boundary. */
  outside: string
  /** A file that exists, but not inside. */
  hidden: string
  writable: string[]
  /** Descriptors that the program gets beside the usual three. */
  keep: number[]
  /** Node, if there is a proxy. */
  node?: string | undefined
  waits?: boolean | undefined
  /** Kilobytes for the data of each process. */
  data?: number | undefined
  processes?: number | undefined
  command: string
  args: string[]
}

/** The arguments of bash. */
export function launcherArgs(launch: Launch): string[] {
  const { outside, hidden, keep, node = "", data = "", processes = "", waits, command, args } = launch
  const writable = `\n${launch.writable.join("\n")}\n`
  return [
    ...["--noprofile", "--norc", "-c", script, bridge],
    ...[outside, hidden, writable, keep.join(" "), node, data, processes].map(String),
    ...[waits ? "1" : "", command, ...args],
  ]
}
