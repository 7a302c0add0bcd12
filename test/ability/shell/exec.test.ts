// exec() for programs that embed us, and what is left when our own process ends.
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { test } from "node:test"
import { exec } from "#ability/shell/exec.ts"
import { ofInstance } from "#ability/shell/shells.ts"
import { Instance } from "#kernel/instance.ts"
import { findProgram } from "#kernel/process/find-program.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { running, uniqueNap } from "./running.ts"

test("exec() gives output and exit code of a command in a folder", async () => {
  await using tmp = await tmpdir()
  const result = await exec("pwd; echo err >&2; exit 3", { cwd: tmp.path })
  assert.equal(result.output, `${tmp.path}\nerr\n`)
  assert.equal(result.exitCode, 3)
  assert.equal(result.signal, null)
  assert.equal(result.timedOut, false)
})

test("exec() ends a command at its time limit", async () => {
  await using tmp = await tmpdir()
  const nap = uniqueNap()
  const result = await exec(`echo begun; sleep ${nap} & sleep ${nap}`, { cwd: tmp.path, timeout: 3_000 })
  assert.equal(result.timedOut, true)
  assert.equal(result.signal, "SIGTERM")
  assert.equal(result.output, "begun\n")
  assert.deepEqual(running(nap), [])
})

test("exec() is stopped through an AbortController", async () => {
  await using tmp = await tmpdir()
  const nap = uniqueNap()
  const abort = new AbortController()
  const going = exec(`touch up; sleep ${nap}`, { cwd: tmp.path, signal: abort.signal })
  await until(() => existsSync(join(tmp.path, "up")), "it runs")
  abort.abort(new Error("no longer wanted"))
  await assert.rejects(going, /no longer wanted/)
  assert.deepEqual(running(nap), [])
  await assert.rejects(exec("touch never", { cwd: tmp.path, signal: abort.signal }), /no longer wanted/)
  assert.equal(existsSync(join(tmp.path, "never")), false)
})

test("exec() reports a missing folder", async () => {
  await assert.rejects(exec("true", { cwd: "/nowhere/at/all" }), /"\/nowhere\/at\/all" is not a folder/)
})

test("exec(): many at once keep their outputs apart", async () => {
  const results = await Promise.all(Array.from({ length: 30 }, (_, n) => exec(`echo ${n}; echo ${n} >&2`)))
  assert.deepEqual(
    results.map(({ output }) => output),
    results.map((_, n) => `${n}\n${n}\n`),
  )
})

async function host(signal: NodeJS.Signals): Promise<string> {
  await using tmp = await tmpdir()
  const nap = uniqueNap()
  const child = spawn(process.execPath, [join(import.meta.dirname, "host.ts"), tmp.path, nap], {
    env: tmp.env,
    stdio: ["ignore", "pipe", "inherit"],
  })
  await once(child.stdout, "data")
  assert.ok(running(`sleep ${nap}`).length >= 3)
  child.kill(signal)
  await once(child, "exit")
  return nap
}

for (const [signal, how] of [
  ["SIGTERM", "a signal"],
  ["SIGUSR2", "process.exit()"],
  ["SIGKILL", "kill -9"],
] as const)
  test(`no command outlives our process when it ends by ${how}`, async () => {
    const nap = await host(signal)
    await until(() => running(nap).length === 0, "all are gone")
  })

test("the guard process of an Instance ends with it", async () => {
  await using tmp = await tmpdir()
  const guards = () =>
    execFileSync("ps", ["-eo", "ppid=,args="], { encoding: "utf8" })
      .split("\n")
      .filter((line) => Number.parseInt(line, 10) === process.pid && line.includes("vitamin-guard"))
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      for (const command of ["true", "false"]) {
        const shell = await ofInstance().start({ command, cwd: tmp.path, take: async () => {} })
        await shell.ended
      }
    },
  })
  assert.equal(guards().length, 1)
  await Instance.disposeAll()
  assert.deepEqual(guards(), [])
})

test("findProgram() does not let a relative entry of PATH name the program", async () => {
  await using tmp = await tmpdir()
  const [{ PATH }, folder] = [process.env, process.cwd()]
  tmp.write("bin/bash", "#!/bin/sh\n")
  try {
    process.chdir(tmp.path)
    process.env.PATH = `bin::.${delimiter}${join(tmp.path, "bin")}`
    assert.equal(findProgram(["bash"]), join(tmp.path, "bin/bash"))
    assert.equal(findProgram(["nothing-of-this-name"]), undefined)
  } finally {
    process.chdir(folder)
    process.env.PATH = PATH
  }
})
