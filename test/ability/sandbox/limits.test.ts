// The files of a control group (cgroup v2) in a folder that looks like one: what is written there. That the kernel acts on
// them is not tested, because the machines of the tests offer none. A group of cgroup v1 is real where root can make one.
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  utimesSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { text } from "node:stream/consumers"
import { test } from "node:test"
import { createGroup } from "#ability/sandbox/limits.ts"
import { startBoundary } from "#ability/sandbox/sandbox.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { whyNot } from "./world.ts"

const v1 =
  process.platform === "linux"
    ? /^\d+:pids:(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1]
    : undefined
const base = join("/sys/fs/cgroup/pids", v1 ?? "")
const noGroup = v1 === undefined || process.getuid!() !== 0 ? "no group of cgroup v1 can be made here" : false

test("without limits, or without cgroup v2, there is no control group", {
  skip: process.platform !== "linux",
}, async () => {
  await using tmp = await tmpdir()
  assert.equal(createGroup({ memory: 100 }, tmp.path), undefined)
  tmp.write("cgroup.controllers", "")
  assert.equal(createGroup({}, tmp.path), undefined)
})

test("a group without the controllers is removed again", { skip: process.platform !== "linux" }, async () => {
  await using tmp = await tmpdir()
  tmp.write("cgroup.controllers", "memory pids")
  assert.equal(createGroup({ memory: 100, processes: 10 }, tmp.path), undefined)
  assert.deepEqual(readdirSync(tmp.path), ["cgroup.controllers"])
})

for (const owner of ["root", "another user"])
  test(`everything inside is in a control group of its own, in a folder of ${owner}`, {
    skip: whyNot("root") ?? (await withoutGroups()),
  }, async () => {
    await using tmp = await tmpdir()
    chmodSync(dirname(tmp.path), 0o711)
    if (owner !== "root") execFileSync("chown", ["-R", "65534:65534", tmp.path])
    const boundary = await startBoundary(
      { directory: tmp.path, allowWrite: ["."], denyRead: [], allowedDomains: [], processes: 100 },
      { command: "sleep", args: ["60"], env: { PATH: process.env.PATH! } },
    )
    try {
      const all = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n")
      const pids = all.map((line) => line.trim().split(/\s+/).map(Number))
      const { pid } = boundary.status
      const [first] = pids.find(([, parent]) => parent === pid)!
      const [program] = pids.find(([, parent]) => parent === first)!
      const groups = [pid, first, program].map((one) => readFileSync(`/proc/${one}/cgroup`, "utf8"))
      assert.match(groups[0]!, /:pids:.*\/vitamin_\w+$/m)
      assert.deepEqual(groups, [groups[0], groups[0], groups[0]])
    } finally {
      await boundary.stop()
    }
  })

test("a group of cgroup v1 lets the kernel refuse processes beyond the limit, and those that the watch needs", {
  skip: noGroup,
}, async () => {
  const group = createGroup({ processes: 10 })!
  assert.equal(group.isWhole, false)
  const joins = group.open()!
  // It joins, and starts at most 100 processes.
  const script = "echo 0 >&3; read -r _; for ((i = 0; i < 100; i++)); do sleep 60 & done; echo all; wait"
  const shell = spawn("bash", ["--norc", "-c", script], { stdio: ["pipe", "pipe", "pipe", joins] })
  closeSync(joins)
  await until(() => group.has(shell.pid!), "it has joined")
  const [, name] = /^\d+:pids:.*(vitamin_\w+)$/m.exec(readFileSync(`/proc/${shell.pid}/cgroup`, "utf8"))!
  const read = (file: string) => readFileSync(join(base, name!, file), "utf8")
  const said = Promise.all([text(shell.stdout!), text(shell.stderr!)])
  shell.stdin!.end("\n")
  await until(() => /^max [1-9]/m.test(read("pids.events")), "the kernel refuses one")
  assert.equal(Number(read("pids.current")), 60)
  for (const pid of read("cgroup.procs").trim().split("\n")) process.kill(Number(pid), "SIGKILL")
  assert.doesNotMatch((await said).join(""), /all/)
  await group.remove()
  assert.equal(existsSync(join(base, name!)), false)
})

test("a boundary removes the groups that killed processes left, and no new ones", {
  skip: noGroup,
}, async () => {
  const [old, fresh] = [join(base, "vitamin_old"), join(base, "vitamin_fresh")]
  for (const path of [old, fresh]) mkdirSync(path)
  try {
    utimesSync(old, 0, 0)
    await createGroup({ processes: 10 })!.remove()
    assert.deepEqual([existsSync(old), existsSync(fresh)], [false, true])
  } finally {
    for (const path of [old, fresh]) if (existsSync(path)) rmdirSync(path)
  }
})

/** Why the kernel offers no group that limits processes. */
async function withoutGroups(): Promise<string | false> {
  const group = createGroup({ processes: 100 })
  await group?.remove()
  return group ? false : "no control group can be made here"
}
