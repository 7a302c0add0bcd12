// `bash.sandbox`: commands of the model run in a sandbox, each in its own.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { Instance } from "#kernel/instance.ts"
import type { Tmp } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { whyNot } from "../../sandbox/world.ts"
import { running, uniqueNap } from "../../shell/running.ts"
import { call, free, inProject } from "../harness.ts"

const skip = whyNot("user") ?? false
const run = (command: string, more = {}) => call("bash", { command, ...more }, { slots: free })

test("a command writes in the work tree, and not beside it", { skip }, () =>
  inSandbox(async (tmp) => {
    const beside = join(tmp.path, "../beside.txt")
    const { text } = await run(
      `echo in >inside.txt; echo out >${beside}; echo out >/etc/vitamin-probe; mktemp >/dev/null && echo temporary`,
    )
    assert.equal(readFileSync(join(tmp.path, "inside.txt"), "utf8"), "in\n")
    assert.equal(existsSync(beside), false)
    assert.match(text, /\/etc\/vitamin-probe: Read-only file system/)
    assert.match(text, /temporary/)
  }),
)

test("a command cannot read .env or add a hook, and nothing is left in the folder", { skip }, () =>
  inSandbox(async (tmp) => {
    tmp.write(".env", "KEY=hidden-value\n")
    const before = [readdirSync(tmp.path), readdirSync(join(tmp.path, ".git"))]
    const { text } = await run("cat .env; echo x >.git/hooks/pre-commit; mkdir .vscode/x; git status --short")
    assert.doesNotMatch(text, /hidden-value/)
    assert.match(text, /\.git\/hooks\/pre-commit: (Read-only file system|Permission denied)/)
    assert.match(text, /\?\? \.env/, "git works")
    assert.doesNotMatch(text, /\?\? \.vscode/)
    await Instance.disposeAll()
    assert.deepEqual([readdirSync(tmp.path), readdirSync(join(tmp.path, ".git"))], before)
    assert.equal(existsSync(join(tmp.path, ".git/hooks/pre-commit")), false)
  }),
)

test("a command has no network; with allowedDomains it reaches those through the proxy", {
  skip,
}, async () => {
  const server = createServer((_, response) => response.end("from the server")).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const get = `node -e 'fetch("http://localhost:${port}/").then((r) => r.text()).then(console.log, (e) => console.log(String(e.cause ?? e)))'`
  try {
    await inSandbox(async () => assert.doesNotMatch((await run(get)).text, /from the server/))
    const adapters = { sandbox: { security: { allowedDomains: [`localhost:${port}`] } } }
    await inSandbox(async () => assert.match((await run(get)).text, /from the server/), { adapters })
  } finally {
    server.close()
  }
})

test("the folder that a command changes to is kept for the next one", { skip }, () =>
  inSandbox(async (tmp) => {
    tmp.write("sub/file.txt", "x\n")
    await run("cd sub")
    assert.match((await run("pwd; cat file.txt")).text, /\/sub\nx/)
  }),
)

test("exit codes, output in order, and what ends just after the shell", { skip }, () =>
  inSandbox(async () => {
    const failed = await run("echo one; echo two >&2; echo three >/dev/stderr; exit 3")
    assert.match(failed.text, /^one\ntwo\nthree\n/)
    assert.match(failed.text, /exit code 3/)
    assert.match((await run("echo late > >(sleep 0.1; cat)")).text, /late/)
  }),
)

test("a command that leaves a process running is told that it was ended", { skip }, () =>
  inSandbox(async () => {
    const nap = uniqueNap()
    const { text } = await run(`sleep ${nap} & echo done`)
    assert.match(text, /done\n\[ended what the command left running/)
    assert.deepEqual(running(nap), [])
  }),
)

test("a timeout ends everything inside", { skip }, () =>
  inSandbox(async () => {
    const nap = uniqueNap()
    const { text } = await run(`trap "" TERM; setsid sleep ${nap} & sleep ${nap}`, { timeout: 1 })
    assert.match(text, /timed out after 1 s/)
    assert.deepEqual(running(nap), [])
  }),
)

test("a background job runs in a sandbox too, and is stopped with everything inside", { skip }, () =>
  inSandbox(async (tmp) => {
    const nap = uniqueNap()
    const beside = join(tmp.path, "../beside.txt")
    const { text } = await run(`echo x >${beside}; echo up; sleep ${nap}`, { background: true })
    assert.match(text, /up\n/)
    assert.equal(existsSync(beside), false)
    await until(() => running(nap).length > 0, "it runs")
    await call("bash", { job: "job_1", stop: true }, { slots: free })
    assert.deepEqual(running(nap), [])
  }),
)

test("a fork bomb in a command is stopped at the limit of processes, and the next command works", {
  skip,
}, async () => {
  const nap = uniqueNap()
  // At most 300 processes.
  const bomb = `for ((i = 0; i < 300; i++)); do sleep ${nap} & done; echo "all of them"`
  let most = 0
  const count = setInterval(() => {
    most = Math.max(most, running(nap).length)
  }, 20)
  try {
    await inSandbox(
      async () => {
        const { text } = await run(bomb, { timeout: 30 })
        assert.match(text, /exceeded the limit of processes|Resource temporarily unavailable/)
        assert.doesNotMatch(text, /all of them/)
        assert.match((await run("echo again")).text, /again/)
      },
      { adapters: { sandbox: { limits: { processes: 60 } } } },
    )
  } finally {
    clearInterval(count)
  }
  assert.ok(most <= 110, `${most} processes`)
  assert.deepEqual(running(nap), [])
})

test("a command may have 2,000 processes if the settings do not say it", { skip }, async () => {
  await inSandbox(async (tmp) => {
    // A command of root has the limit of its control group instead; in a folder of another user it is that user's.
    if (process.getuid!() === 0) execFileSync("chown", ["-R", "65534:65534", tmp.path])
    execFileSync("chmod", ["-R", "755", join(tmp.path, "..")])
    assert.match((await run("ulimit -u")).text, /^2000$/m)
  })
})

test("without bubblewrap the command is refused, and says how to get it", { skip }, () =>
  inSandbox(async (tmp) => {
    await run("true")
    // Removed in the middle of a session: the PATH has bash, and no bubblewrap any more.
    const [before, bin] = [process.env.PATH, join(tmp.path, "../bin")]
    tmp.write("../bin/bash", '#!/bin/sh\nexec /bin/bash "$@"\n')
    process.env.PATH = bin
    try {
      const { text } = await run("echo ran >ran.txt")
      assert.match(
        text,
        /The sandbox did not start: bubblewrap \(bwrap\) is not on the PATH\. Install it with apt install/,
      )
      assert.equal(existsSync(join(tmp.path, "ran.txt")), false)
    } finally {
      process.env.PATH = before
    }
    assert.match((await run("echo again")).text, /again/)
  }),
)

async function inSandbox(fn: (tmp: Tmp) => Promise<void>, more: object = {}): Promise<void> {
  const before = process.env.VITAMIN_CONFIG
  process.env.VITAMIN_CONFIG = JSON.stringify({ bash: { sandbox: true }, ...more })
  try {
    await inProject(fn, { git: true })
  } finally {
    if (before === undefined) delete process.env.VITAMIN_CONFIG
    else process.env.VITAMIN_CONFIG = before
  }
}
