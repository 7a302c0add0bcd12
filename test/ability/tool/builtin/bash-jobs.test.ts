// Commands in the background of a session, through the gate.
import assert from "node:assert/strict"
import { existsSync, readdirSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { Result } from "#ability/tool/run-tool.ts"
import type { Json } from "#ability/tool/tool.ts"
import { Instance } from "#kernel/instance.ts"
import { until } from "../../../fixture/until.ts"
import { running, uniqueNap } from "../../shell/running.ts"
import { call, free, inProject, type Options } from "../harness.ts"

const bash = (args: Json, options: Options = {}) => call("bash", args, { slots: free, ...options })
const start = (command: string, options: Options = {}) => bash({ command, background: true }, options)
type Data = {
  job: string
  running: boolean
  exitCode: number | null
  signal: string | null
  timedOut: boolean
}
const dataOf = (result: Result) => result.data as Data
const waitFor = (file: string) => `until [ -e ${file} ]; do sleep 0.02; done`

test("bash: a job is read in parts, until it has ended", async () => {
  await inProject(async (tmp) => {
    const command = `echo one; ${waitFor("go")}; printf two; touch printed; ${waitFor("end")}; echo three; exit 6`
    const started = await start(command)
    assert.match(started.text, /\[job_1: running for \d+ s\]$/)
    assert.equal(started.title, `${command.slice(0, 80)}… (job_1)`)
    let text = started.text
    await until(async () => {
      text += (await bash({ job: "job_1" })).text
      return text.includes("one\n")
    }, "the first line is read")
    tmp.write("go", "")
    await until(() => existsSync(join(tmp.path, "printed")), "it printed")
    let part = ""
    await until(async () => {
      part = (await bash({ job: "job_1" })).text
      return part.includes("two")
    }, "a part of a line is read")
    assert.match(part, /^two\n\[job_1: running for \d+ s\]$/)
    tmp.write("end", "")
    const last = await bash({ job: "job_1", timeout: 60 })
    assert.equal(last.text, "three\n[job_1: exit code 6]")
    assert.match(last.title!, /\(exit 6\)$/)
    const again = await bash({ job: "job_1" })
    assert.equal(again.text, "[job_1: exit code 6]")
    const { duration: _, ...rest } = dataOf(again) as Data & { duration: number }
    assert.deepEqual(rest, { job: "job_1", running: false, exitCode: 6, signal: null, timedOut: false })
  })
})

test("bash: a job that ends at once says so at once", async () => {
  await inProject(async () => {
    const { text, data } = await bash({ command: "echo broken; exit 5", background: true })
    const job = (data as Data).running ? await bash({ job: "job_1", timeout: 60 }) : { text }
    assert.match(text + job.text, /broken\n[\s\S]*\[job_1: exit code 5\]$/)
  })
})

test("bash: stop ends a job and everything that it started, and may be repeated", async () => {
  await inProject(async (tmp) => {
    const nap = uniqueNap()
    await start(
      `trap '' TERM; sleep ${nap} & setsid sh -c "touch up; exec sleep ${nap}" & while :; do sleep ${nap}; done`,
    )
    await until(() => existsSync(join(tmp.path, "up")), "it is up")
    const stopped = await bash({ job: "job_1", stop: true })
    assert.equal(dataOf(stopped).running, false)
    assert.equal(dataOf(stopped).signal, "SIGKILL")
    assert.deepEqual(running(nap), [])
    assert.match((await bash({ job: "job_1", stop: true })).text, /\[job_1: ended by SIGKILL\]$/)
  })
})

test("bash: a job lasts as long as its process group", async () => {
  await inProject(async (tmp) => {
    await start(`{ ${waitFor("go")}; echo late; } & echo shell done`)
    assert.equal(dataOf(await bash({ job: "job_1" })).running, true)
    tmp.write("go", "")
    const { text, data } = await bash({ job: "job_1", timeout: 60 })
    assert.match(text, /late\n\[job_1: exit code 0\]$/)
    assert.equal((data as Data).running, false)
  })
})

test("bash: a job with a time limit is ended at it", async () => {
  await inProject(async () => {
    const nap = uniqueNap()
    await bash({ command: `sleep ${nap}`, background: true, timeout: 1 })
    const { text, data } = await bash({ job: "job_1", timeout: 60 })
    assert.match(text, /\[its timeout was reached\]\n\[job_1: ended by SIGTERM\]$/)
    assert.equal((data as Data).timedOut, true)
    assert.deepEqual(running(nap), [])
  })
})

test("bash: jobs belong to their session", async () => {
  await inProject(async () => {
    const none = await bash({ job: "job_1" })
    assert.match(none.text, /no job "job_1" in this session\. None was started/)
    await start("true")
    await start("true")
    assert.match((await bash({ job: "job_3" })).text, /no job "job_3" in this session\. Known: job_1, job_2/)
    assert.equal((await bash({ job: "job_1" }, { sessionId: "ses_2" })).status, "error")
  })
})

test("bash: a job that prints without end is bounded at each reading", async () => {
  await inProject(async () => {
    await start("yes some text")
    await until(async () => Buffer.byteLength((await bash({ job: "job_1" })).text) > 40_000, "much came")
    const { text } = await bash({ job: "job_1", stop: true })
    assert.ok(Buffer.byteLength(text) <= 50_000)
  })
})

test("bash: aborting a turn ends the jobs that it started", async () => {
  await inProject(async () => {
    const [mine, other] = [uniqueNap(), uniqueNap()]
    const abort = new AbortController()
    await start(`sleep ${other}`)
    await start(`sleep ${mine}`, { signal: abort.signal })
    abort.abort()
    await until(() => running(mine).length === 0, "its job is gone")
    assert.ok(running(other).length > 0)
  })
})

test("bash: jobs end with the Instance, and keep it from being taken down as idle", async () => {
  const nap = uniqueNap()
  await inProject(async (tmp) => {
    await Instance.provide({
      directory: tmp.path,
      fn: () => start(`trap '' TERM; while :; do sleep ${nap}; done`),
    })
    await Instance.disposeIdle({ olderThan: 0, keep: 0 })
    assert.ok(running(nap).length > 0)
  })
  assert.deepEqual(running(nap), [])
})

test("bash: the output file of a job that nobody reads is closed", async () => {
  const open = () =>
    readdirSync("/proc/self/fd").filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).includes("/outputs/")
      } catch {
        return false
      }
    })
  await inProject(async () => {
    await start("yes some text")
    const abort = new AbortController()
    const going = bash({ command: "yes other text" }, { signal: abort.signal })
    await until(() => open().length === 2, "both outputs are in files")
    abort.abort()
    await going
    await until(() => open().length === 1, "that of the interrupted call is closed")
  })
  assert.deepEqual(open(), [])
})
