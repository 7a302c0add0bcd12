// The system calls that a program in the sandbox cannot use, as a filter for the kernel (seccomp, classic BPF). The
// namespaces are the boundary; the filter removes parts of the kernel that programs rarely need and exploits often use.
// Each instruction is 8 bytes: operation (16 bit), jump if true, jump if false (8 bit each), value (32 bit). The input is
// `struct seccomp_data`: number at 0, architecture at 4, arguments of 64 bit from 16 on.
import { endianness } from "node:os"

type Instruction = [operation: number, value: number, ifTrue?: number, ifFalse?: number]
type Machine = { audit: number; calls: Calls }
type Calls = { ioctl: number; clone: number; unshare: number; socket: number; refused: number[] }

/** BPF_LD|BPF_W|BPF_ABS, BPF_JMP with JEQ, JGE, JSET against a constant, BPF_RET. */
const [load, equal, atLeast, anyBit, give] = [0x20, 0x15, 0x35, 0x45, 0x06] as const
const [number, architecture] = [0, 4] as const
/** The lower half of an argument. The kernel reads no more of these arguments, so a value in the upper half hides nothing. */
const argument = (index: number) => 16 + 8 * index
const allow = 0x7fff0000
const fail = (errno: number) => 0x00050000 | errno
const [notPermitted, notImplemented, noFamily] = [1, 38, 97] as const

/** CLONE_NEWTIME, NS, CGROUP, UTS, IPC, USER, PID, NET. For `clone`, the lowest bits are a signal, so NEWTIME does not fit. */
const namespaces = 0x7e020000
const newTime = 0x80
const [pushInput, linuxConsole] = [0x5412, 0x541c] as const
const [unix, inet, inet6, netlink] = [1, 2, 10, 16] as const

/** The same numbers everywhere: io_uring, which passes by filters like this one, and clone3, whose flags are in memory
 * that a filter cannot read. Programs fall back to the older calls. */
const absent = [425, 426, 427, 435]
/** open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, pidfd_getfd, mount_setattr, quotactl_fd, open_tree_attr. */
const recent = [428, 429, 430, 431, 432, 433, 438, 442, 443, 467]
/** In both: ptrace, process_vm_readv and _writev, kcmp, mount, umount2, pivot_root, chroot, setns, keyctl, add_key,
 * request_key, bpf, perf_event_open, userfaultfd, open_by_handle_at, kexec_load and _file_load, init_module,
 * finit_module, delete_module, reboot, swapon, swapoff, acct, quotactl, syslog. */
const machines: Record<string, Machine> = {
  x64: {
    audit: 0xc000003e,
    calls: {
      ...{ ioctl: 16, clone: 56, unshare: 272, socket: 41 },
      refused: [
        ...[101, 310, 311, 312, 165, 166, 155, 161, 308, 250, 248, 249, 321, 298, 323, 304, 246, 320],
        ...[175, 313, 176, 169, 167, 168, 163, 179, 103],
        // iopl, ioperm, modify_ldt
        ...[172, 173, 154],
      ],
    },
  },
  arm64: {
    audit: 0xc00000b7,
    calls: {
      ...{ ioctl: 29, clone: 220, unshare: 97, socket: 198 },
      refused: [
        ...[117, 270, 271, 272, 40, 39, 41, 51, 268, 219, 217, 218, 280, 241, 282, 265, 104, 294],
        ...[105, 273, 106, 142, 224, 225, 89, 60, 116],
      ],
    },
  },
}

/** The filter for this machine; undefined for a processor that it is not written for. */
export function seccompFilter(processor: string = process.arch): Buffer | undefined {
  const machine = endianness() === "LE" ? machines[processor] : undefined
  return machine && assemble(program(machine))
}

function program({ audit, calls }: Machine): Instruction[] {
  const refuse = (numbers: number[], errno: number): Instruction[] =>
    numbers.flatMap((value): Instruction[] => [
      [equal, value, 0, 1],
      [give, fail(errno)],
    ])
  /** If the number is `call`, `judge` decides; it must end with a return. */
  const when = (call: number, judge: Instruction[]): Instruction[] => [
    [equal, call, 0, judge.length],
    ...judge,
  ]
  return [
    [load, architecture],
    // Another architecture (32-bit programs) has other numbers.
    [equal, audit, 1, 0],
    [give, fail(notImplemented)],
    [load, number],
    // The x32 interface of x86_64 has its own numbers from here on.
    [atLeast, 0x40000000, 0, 1],
    [give, fail(notImplemented)],
    ...refuse(absent, notImplemented),
    ...refuse([...recent, ...calls.refused], notPermitted),
    ...when(calls.clone, refuseBits(namespaces)),
    ...when(calls.unshare, refuseBits(namespaces | newTime)),
    // Typing into the terminal of the person.
    ...when(calls.ioctl, [
      [load, argument(1)],
      [equal, pushInput, 1, 0],
      [equal, linuxConsole, 0, 1],
      [give, fail(notPermitted)],
      [give, allow],
    ]),
    ...when(calls.socket, [
      [load, argument(0)],
      [equal, unix, 6, 0],
      [equal, inet, 5, 0],
      [equal, inet6, 4, 0],
      [equal, netlink, 0, 2],
      // Only NETLINK_ROUTE, which lists the interfaces of the own namespace: Node and others need it to start a server.
      [load, argument(2)],
      [equal, 0, 1, 0],
      [give, fail(noFamily)],
      [give, allow],
    ]),
    [give, allow],
  ]
}

function refuseBits(bits: number): Instruction[] {
  return [
    [load, argument(0)],
    [anyBit, bits, 0, 1],
    [give, fail(notPermitted)],
    [give, allow],
  ]
}

function assemble(instructions: Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * instructions.length)
  for (const [i, [operation, value, ifTrue = 0, ifFalse = 0]] of instructions.entries()) {
    bytes.writeUInt16LE(operation, 8 * i)
    bytes.writeUInt8(ifTrue, 8 * i + 2)
    bytes.writeUInt8(ifFalse, 8 * i + 3)
    bytes.writeUInt32LE(value >>> 0, 8 * i + 4)
  }
  return bytes
}
