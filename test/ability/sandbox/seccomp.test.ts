// The filter of system calls, run by a small interpreter of BPF: what the kernel would answer, also for a processor that
// this machine does not have.
import assert from "node:assert/strict"
import { test } from "node:test"
import { seccompFilter } from "#ability/sandbox/seccomp.ts"

type Call = { number: number; arguments?: (number | bigint)[]; architecture?: number }

const numbers = {
  x64: {
    audit: 0xc000003e,
    ...{
      read: 0,
      openat: 257,
      execve: 59,
      socket: 41,
      clone: 56,
      unshare: 272,
      ioctl: 16,
      ptrace: 101,
      mount: 165,
    },
    ...{ setns: 308, keyctl: 250, bpf: 321, perf_event_open: 298, userfaultfd: 323, process_vm_readv: 310 },
  },
  arm64: {
    audit: 0xc00000b7,
    ...{
      read: 63,
      openat: 56,
      execve: 221,
      socket: 198,
      clone: 220,
      unshare: 97,
      ioctl: 29,
      ptrace: 117,
      mount: 40,
    },
    ...{ setns: 268, keyctl: 219, bpf: 280, perf_event_open: 241, userfaultfd: 282, process_vm_readv: 270 },
  },
}

for (const [processor, calls] of Object.entries(numbers)) {
  const answer = (call: Call) => run(seccompFilter(processor)!, { architecture: calls.audit, ...call })
  const socket = (family: number, protocol = 0) =>
    answer({ number: calls.socket, arguments: [family, 1, protocol] })

  test(`${processor}: programs can work`, () => {
    for (const number of [calls.read, calls.openat, calls.execve]) assert.equal(answer({ number }), "allow")
    assert.equal(answer({ number: calls.clone, arguments: [0x01200011] }), "allow", "fork")
    assert.equal(answer({ number: calls.clone, arguments: [0x003d0f00] }), "allow", "a thread")
    assert.equal(answer({ number: calls.unshare, arguments: [0x400] }), "allow", "unshare(CLONE_FILES)")
    assert.equal(answer({ number: calls.ioctl, arguments: [0, 0x5413] }), "allow", "TIOCGWINSZ")
    for (const family of [1, 2, 10]) assert.equal(socket(family), "allow")
    assert.equal(socket(16, 0), "allow", "the own interfaces")
  })

  test(`${processor}: dangerous calls are refused`, () => {
    const { ptrace, mount, setns, keyctl, bpf, perf_event_open, userfaultfd, process_vm_readv } = calls
    for (const number of [ptrace, mount, setns, keyctl, bpf, perf_event_open, userfaultfd, process_vm_readv])
      assert.equal(answer({ number }), "EPERM", String(number))
    // open_tree, move_mount, fsopen, mount_setattr
    for (const number of [428, 429, 430, 442]) assert.equal(answer({ number }), "EPERM", String(number))
    // io_uring_setup, _enter, _register, and clone3
    for (const number of [425, 426, 427, 435]) assert.equal(answer({ number }), "ENOSYS", String(number))
  })

  test(`${processor}: namespaces, typing into a terminal and other sockets are refused by their arguments`, () => {
    // NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      assert.equal(answer({ number: calls.clone, arguments: [flag | 17] }), "EPERM", flag.toString(16))
      assert.equal(answer({ number: calls.unshare, arguments: [flag] }), "EPERM", flag.toString(16))
    }
    assert.equal(answer({ number: calls.unshare, arguments: [0x80] }), "EPERM", "NEWTIME")
    for (const request of [0x5412, 0x541c])
      assert.equal(answer({ number: calls.ioctl, arguments: [0, request] }), "EPERM")
    // The kernel reads 32 bits of the request.
    assert.equal(answer({ number: calls.ioctl, arguments: [0, 0x1_0000_5412n] }), "EPERM")
    for (const family of [16, 17, 31, 38, 40])
      assert.equal(socket(family, family === 16 ? 12 : 0), "EAFNOSUPPORT")
  })

  test(`${processor}: calls of another architecture are refused`, () => {
    for (const architecture of [0x40000003, 0x40000028, 0])
      assert.equal(answer({ number: calls.read, architecture }), "ENOSYS")
    assert.equal(answer({ number: 0x40000000 | calls.ptrace }), "ENOSYS", "x32")
  })
}

test("there is no filter for an unknown processor", () => assert.equal(seccompFilter("mips"), undefined))

function run(filter: Buffer, { number, architecture = 0, arguments: given = [] }: Call): string {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number >>> 0, 0)
  data.writeUInt32LE(architecture, 4)
  given.forEach((value, i) => void data.writeBigUInt64LE(BigInt(value), 16 + 8 * i))
  let accumulator = 0
  for (let at = 0; at < filter.length / 8; at++) {
    const [operation, yes, no] = [filter.readUInt16LE(8 * at), filter[8 * at + 2]!, filter[8 * at + 3]!]
    const value = filter.readUInt32LE(8 * at + 4)
    const jump = (isTrue: boolean) => {
      at += isTrue ? yes : no
    }
    if (operation === 0x20) accumulator = data.readUInt32LE(value)
    else if (operation === 0x15) jump(accumulator === value)
    else if (operation === 0x35) jump(accumulator >= value)
    else if (operation === 0x45) jump((accumulator & value) !== 0)
    else if (operation === 0x06) return named(value)
    else throw new Error(`unknown operation ${operation}`)
  }
  throw new Error("the filter has no end")
}

function named(value: number): string {
  if (value === 0x7fff0000) return "allow"
  const errors: Record<number, string> = { 1: "EPERM", 38: "ENOSYS", 97: "EAFNOSUPPORT" }
  return errors[value & 0xffff] ?? value.toString(16)
}
