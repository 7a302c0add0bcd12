// The bash tool through the gate: what the model sees of a command, and that no process is left.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { bash } from "#ability/tool/builtin/bash.ts"
import { type Result, runTool } from "#ability/tool/run-tool.ts"
import type { Json } from "#ability/tool/tool.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { until } from "../../../fixture/until.ts"
import { running, uniqueNap } from "../../shell/running.ts"
import { call, free, inProject, type Options } from "../harness.ts"

const run = (command: string, options: Options & { timeout?: number } = {}): Promise<Result> => {
  const { timeout, ...rest } = options
  return call("bash", { command, ...(timeout ? { timeout } : {}) }, { slots: free, ...rest })
}
/** A process that left the group of its command, and goes on when it is asked to end politely. */
const daemon = (nap: string) =>
  `{ setsid sh -c "trap '' TERM; touch up; while :; do sleep ${nap}; done" & until [ -e up ]; do sleep 0.02; done; }`
const cwdOf = (result: Result) => (result.data as { cwd: string }).cwd

const cases: [command: string, text: string, title?: string][] = [
  ["echo hello", "hello\n"],
  ["true", "(no output)"],
  ["printf 'no line end'; exit 3", "no line end\n[exit code 3]", "printf 'no line end'; exit 3 (exit 3)"],
  ["for i in 1 2 3; do echo out $i; echo err $i >&2; done", "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n"],
  ["echo named >/dev/stderr; echo again >/dev/stdout", "named\nagain\n"],
  ["echo tee | tee /dev/stderr", "tee\ntee\n"],
  ["cat; read -r line; echo $?", "1\n"],
  ["kill -9 $$", "[ended by SIGKILL]", "kill -9 $$ (SIGKILL)"],
  ["exit 300", "[exit code 44]"],
  ["printf '\\033[31mred\\033[0m\\n10%%\\r100%%\\n'", "red\n100%\n"],
  ["printf '\\303'; sleep 0.05; printf '\\251\\n'", "é\n"],
  ["echo $# $0 $TERM $PAGER $GIT_TERMINAL_PROMPT", "0 bash dumb cat 0\n"],
  ["set -- a; cd . ; echo $# \"$1\" 'quo'\\''te'", "1 a quo'te\n"],
  ["-x", "bash: line 1: -x: command not found\n[exit code 127]"],
  ["tty; (: </dev/tty) 2>/dev/null || echo no terminal", "not a tty\nno terminal\n"],
]
for (const [command, text, title] of cases)
  test(`bash ${command}`, async () => {
    await inProject(async () => {
      const result = await run(command)
      assert.equal(result.text, text)
      assert.equal(result.status, "success")
      assert.equal(result.title, title ?? result.title)
    })
  })

test("bash: what a call needs is the command; a job needs nothing more", () => {
  const needs = (args: Json) => bash.permission(bash.parameters.parse(args))
  assert.deepEqual(needs({ command: "npm test" }), [{ permission: "bash.execute", target: "npm test" }])
  assert.deepEqual(needs({ job: "job_1", stop: true }), [])
})

test("bash is refused when nobody allowed it", async () => {
  await inProject(async (tmp) => {
    const result = await call("bash", { command: `touch ${join(tmp.path, "made")}` })
    assert.equal(result.refused, "permission")
    assert.throws(() => readFileSync(join(tmp.path, "made")), { code: "ENOENT" })
  })
})

test("bash: data has the exit code, the signal and the folder", async () => {
  await inProject(async (tmp) => {
    const { data } = await run("exit 7")
    const { duration, ...rest } = data as { duration: number }
    assert.deepEqual(rest, { exitCode: 7, signal: null, timedOut: false, cwd: tmp.path })
    assert.ok(duration >= 0)
  })
})

for (const [args, text] of [
  [{}, /give either command or job/],
  [{ command: "x", job: "job_1" }, /give either command or job/],
  [{ command: "x", stop: true }, /stop needs the job/],
  [{ command: "x", timeout: 120_000 }, /- timeout: Too big.*3600/],
  [{ command: "a\0b" }, /not started: it has a NUL byte/],
  [{ command: `: ${"x".repeat(300_000)}` }, /too long \(300002 bytes\)\. Write it to a file/],
] as [Json, RegExp][])
  test(`bash says what is wrong with ${JSON.stringify(args).slice(0, 60)}`, async () => {
    await inProject(async () => {
      const result = await call("bash", args, { slots: free })
      assert.equal(result.status, "error")
      assert.match(result.text, text)
      assert.equal(result.error?.recoverable, true)
    })
  })

test("bash keeps the working directory of a session", async () => {
  await inProject(async (tmp) => {
    mkdirSync(join(tmp.path, "a b/c"), { recursive: true })
    const moved = await run("cd 'a b' && cd c")
    assert.equal(moved.text, "[the working directory is now a b/c]")
    assert.equal((await run("pwd")).text, `${join(tmp.path, "a b/c")}\n`)
    assert.equal((await run("pwd", { sessionId: "ses_2" })).text, `${tmp.path}\n`)
    assert.match((await run("cd ..; exit 2")).text, /now a b\]\n\[exit code 2\]$/)
    assert.match((await run("(cd c); pwd")).text, /a b\n$/)
    assert.equal(cwdOf(await run("set -e; pushd c >/dev/null; false")), join(tmp.path, "a b/c"))
  })
})

test("bash falls back to the instance's directory, and says so", async () => {
  await inProject(async (tmp) => {
    mkdirSync(join(tmp.path, "sub/gone"), { recursive: true })
    symlinkSync("/", join(tmp.path, "out"))
    const outside = await run("cd / && pwd")
    assert.equal(outside.text, `/\n[/ is outside of the workspace; the working directory is ${tmp.path}]`)
    assert.match((await run("cd out")).text, /outside of the workspace/)
    assert.equal((await run("pwd")).text, `${tmp.path}\n`)
    await run("cd sub/gone")
    assert.match((await run("rmdir ../gone")).text, /sub\/gone is gone; the working directory is /)
    assert.equal((await run("pwd")).text, `${tmp.path}\n`)
    await run("cd sub")
    rmSync(join(tmp.path, "sub"), { recursive: true })
    assert.equal(
      (await run("pwd")).text,
      `${tmp.path}\n[${join(tmp.path, "sub")} is gone; the working directory is ${tmp.path}]`,
    )
  })
})

test("bash: a command may use low file descriptors", async () => {
  await inProject(async (tmp) => {
    await run("mkdir d; exec 3>log 9>lock; cd d; echo text >&3")
    assert.equal(readFileSync(join(tmp.path, "log"), "utf8"), "text\n")
    assert.equal(readFileSync(join(tmp.path, "lock"), "utf8"), "")
  })
})

test("bash: a long output is cut, and stored whole in a file that the text names", async () => {
  await inProject(async () => {
    const { text, status } = await run("seq 1 200000; exit 1")
    assert.equal(status, "success")
    assert.ok(Buffer.byteLength(text) <= 50_000)
    assert.match(text, /^1\n2\n3\n[\s\S]*\n199999\n200000\n\[exit code 1\]$/)
    const file = /all of it in (\S+),/.exec(text)?.[1]
    assert.equal(
      readFileSync(file!, "utf8"),
      `${Array.from({ length: 200_000 }, (_, n) => `${n + 1}\n`).join("")}[exit code 1]`,
    )
  })
})

test("bash: an output of just 50 KB and its exit code fit", async () => {
  await inProject(async () => {
    const { text } = await run("head -c 50000 /dev/zero | tr '\\0' x; exit 1")
    assert.ok(Buffer.byteLength(text) <= 50_000)
    assert.match(text, /x\n\[exit code 1\]$/)
  })
})

test("bash: a command that prints forever ends at its timeout, with bounded output", async () => {
  await inProject(async () => {
    const nap = uniqueNap()
    const { text, status, error } = await run(`yes ${nap}`, { timeout: 1 })
    assert.equal(status, "error")
    assert.equal(error?.recoverable, true)
    assert.ok(Buffer.byteLength(text) <= 50_000)
    assert.match(text, /\[timed out after 1 s and was ended; raise timeout, or use background: true\]$/)
    assert.deepEqual(running(nap), [])
  })
})

test("bash: a time limit ends a command and everything that it started, even if it resists", async () => {
  await inProject(async () => {
    const nap = uniqueNap()
    const stubborn = `trap '' TERM INT HUP; echo begun; sleep ${nap} & ${daemon(nap)}; while :; do sleep ${nap}; done`
    const { text, status } = await run(stubborn, { timeout: 5 })
    assert.equal(status, "error")
    assert.match(text, /^begun\n[\s\S]*timed out after 5 s/)
    assert.deepEqual(running(nap), [])
  })
})

test("bash: an abort ends a command and everything that it started", async () => {
  await inProject(async (tmp) => {
    const nap = uniqueNap()
    const abort = new AbortController()
    const command = `trap '' TERM; sleep ${nap} & ${daemon(nap)}; while :; do sleep ${nap}; done`
    const going = run(command, { signal: abort.signal })
    await until(() => existsSync(join(tmp.path, "up")), "the daemon is up")
    abort.abort()
    assert.equal((await going).status, "interrupted")
    await until(() => running(nap).length === 0, "all are gone")
  })
})

test("bash: processes that a command leaves in its group are ended and named", async () => {
  await inProject(async () => {
    const nap = uniqueNap()
    const { text, status } = await run(`sleep ${nap} & echo started`)
    assert.equal(status, "success")
    assert.equal(
      text,
      `started\n[ended what the command left running: sleep ${nap}; start such things with background: true]`,
    )
    assert.deepEqual(running(nap), [])
  })
})

test("bash: waits a moment for processes that still write after the shell has ended", async () => {
  await inProject(async () => {
    assert.match((await run("echo text > >(cat)")).text, /^text\n/)
  })
})

test("bash returns although a daemon holds its output, and the daemon ends with the Instance", async () => {
  const naps = [uniqueNap(), uniqueNap()] as const
  await inProject(async () => {
    const held = await run(`${daemon(naps[0])}; echo started; rm up`)
    assert.match(held.text, /^started\n\[a daemon still holds the output/)
    const quiet = await run(`{ ${daemon(naps[1])}; } >/dev/null 2>&1; echo started`)
    assert.equal(quiet.text, "started\n")
    for (const nap of naps) assert.ok(running(nap).length > 0)
  })
  for (const nap of naps) assert.deepEqual(running(nap), [])
})

test("bash reports output as it arrives, without secrets", async () => {
  await inProject(async (tmp) => {
    Secret.register("sk-very-secret-0123", "test key")
    const reported: string[] = []
    const { signal } = new AbortController()
    const context = {
      sessionId: "ses_1",
      messageId: "msg_1",
      callId: "call_1",
      signal,
      report: (text: string) => reported.push(text),
    }
    const command = "echo first sk-very-secret-0123; until [ -e go ]; do sleep 0.02; done; echo second"
    const going = runTool({
      call: { id: "call_1", name: "bash", arguments: { command } },
      context,
      slots: free,
    })
    await until(() => reported.length > 0, "the first line is reported")
    assert.deepEqual(reported, ["first [test key]\n"])
    tmp.write("go", "")
    assert.equal((await going).text, "first [test key]\nsecond\n")
    assert.equal(reported.join(""), "first [test key]\nsecond\n")
  })
})

test("bash: a command gets the person's environment without our secrets", async () => {
  await inProject(async () => {
    process.env.TEST_PLAIN = "plain value"
    process.env.TEST_SECRET = "sk-another-secret-0123"
    Secret.register(process.env.TEST_SECRET, "test key")
    try {
      const first = await run('echo "$TEST_PLAIN|$TEST_SECRET|"')
      assert.match(first.text, /^plain value\|\|\n\[commands do not get TEST_SECRET: .*environment\.pass/)
      assert.equal((await run('echo "$TEST_PLAIN|$TEST_SECRET|"')).text, "plain value||\n")
    } finally {
      delete process.env.TEST_PLAIN
      delete process.env.TEST_SECRET
    }
  })
})

test("bash works without mkfifo, and with sh alone", async () => {
  await inProject(async (tmp) => {
    const { PATH } = process.env
    mkdirSync(join(tmp.path, "bin/d"), { recursive: true })
    symlinkSync("/bin/sh", join(tmp.path, "bin/sh"))
    process.env.PATH = join(tmp.path, "bin")
    try {
      const result = await run("cd bin/d; echo out; echo err >&2; exit 4")
      assert.equal(result.text, "out\nerr\n[exit code 4]")
    } finally {
      process.env.PATH = PATH
    }
  })
})
