// The life of a boundary: what it is given, what it leaves behind, and how it ends.
import assert from "node:assert/strict"
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { type TestContext, test } from "node:test"
import { promisify } from "node:util"
import {
  type Boundary,
  checkSandbox,
  type Options,
  type Policy,
  startBoundary,
} from "#ability/sandbox/sandbox.ts"
import { checkUrl } from "#ability/web/check-url.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { running, uniqueNap } from "../shell/running.ts"
import { whyNot } from "./world.ts"

const skip = whyNot("user") ?? false
const starter = join(import.meta.dirname, "starter.ts")

test("the program gets the four pipes, only its environment, and its folder", { skip }, async () => {
  await using tmp = await tmpdir()
  const { child, ended } = await start(
    tmp,
    `read -r line; read -r more <&3; echo "$line"; echo "$more back" >&3; echo e >&2; pwd; env`,
  )
  child.stdin!.end("from stdin\n")
  const duplex = child.stdio[3] as import("node:stream").Duplex
  duplex.write("over the pipe\n")
  const [out, errors, back] = await Promise.all([text(child.stdout!), text(child.stderr!), text(duplex)])
  const [line, folder, ...env] = out.trim().split("\n")
  assert.deepEqual([line, folder, errors, back], ["from stdin", tmp.path, "e\n", "over the pipe back\n"])
  const names = env
    .map((one) => one.split("=")[0])
    .filter((name) => !["PWD", "SHLVL", "_", "OLDPWD"].includes(name!))
  assert.deepEqual(names.sort(), ["PATH", "TMPDIR"])
  assert.deepEqual(await ended, { exitCode: 0, signal: null })
})

test("as root, the program gets the rights of the owner of the folder", {
  skip: skip || asRoot(),
}, async () => {
  await using tmp = await tmpdir()
  execFileSync("chown", ["-R", "12345:12345", tmp.path])
  // The folders around must be open to that user.
  execFileSync("chmod", ["755", join(tmp.path, "..")])
  const { child, status } = await start(tmp, "id -u; id -g; id -G; touch mine && stat -c %u mine")
  assert.equal(await output(child), "12345\n12345\n12345\n12345\n")
  assert.equal(status.user, "uid 12345")
  assert.deepEqual(status.missing, [])
})

for (const [what, path] of [
  ["protected", ".git/config"],
  ["hidden", ".env"],
] as const)
  test(`a boundary ends when a ${what} file is replaced from outside`, { skip }, async () => {
    await using tmp = await tmpdir({ git: true })
    tmp.write(".env", "KEY=1\n")
    const { child, ended } = await start(tmp, "echo started; sleep 60", { denyRead: [".env"] })
    await once(child.stdout!, "data")
    const file = join(tmp.path, path)
    writeFileSync(join(tmp.path, "new"), "KEY=2\n")
    // A file that is changed in place stays covered.
    writeFileSync(file, readFileSync(file))
    renameSync(join(tmp.path, "new"), file)
    assert.deepEqual(await ended, { exitCode: null, signal: "SIGKILL", replaced: file })
  })

test("stop() ends everything inside, also what left its session", { skip }, async () => {
  await using tmp = await tmpdir()
  const nap = uniqueNap()
  const boundary = await start(tmp, `trap "" TERM HUP; setsid -f sleep ${nap}; sleep ${nap}`)
  await until(() => running(nap).length >= 2, "it runs")
  await boundary.stop()
  assert.deepEqual(running(nap), [])
  assert.deepEqual(readdirSync(tmp.path), [])
  await boundary.stop()
})

test("if our process is killed, everything inside ends, and the next start cleans the folder", {
  skip,
}, async (t) => {
  await using tmp = await tmpdir({ git: true })
  const nap = uniqueNap()
  const before = allNames(tmp)
  const host = startHost(t, tmp, `setsid -f sleep ${nap}; sleep ${nap}`)
  await until(() => running(nap).length >= 2, "it runs")
  assert.ok(existsSync(join(tmp.path, ".vscode")), "the placeholder")
  host.kill("SIGKILL")
  await until(() => running(nap).length === 0, "it has ended")
  assert.ok(existsSync(join(tmp.path, ".vscode")), "left by the crash")
  const next = await start(tmp, "echo next")
  assert.equal(await output(next.child), "next\n")
  await next.ended
  assert.deepEqual(allNames(tmp), before)
  assert.equal(tmp.git("status", "--short"), "")
})

test("a placeholder stays while another boundary needs it, and is read-only there", { skip }, async () => {
  await using tmp = await tmpdir()
  const first = await start(tmp, "read -r _")
  const long = await start(tmp, `read -r _; mkdir .vscode/x || echo refused`)
  await first.stop()
  const brief = await start(tmp, "true")
  await output(brief.child)
  await brief.ended
  assert.ok(existsSync(join(tmp.path, ".vscode")))
  long.child.stdin!.end("\n")
  assert.equal(await output(long.child), "refused\n")
  await long.ended
  assert.deepEqual(readdirSync(tmp.path), [])
})

test("what a person creates meanwhile is kept", { skip }, async () => {
  await using tmp = await tmpdir()
  const boundary = await start(tmp, "read -r _")
  writeFileSync(join(tmp.path, ".vscode/settings.json"), "{}")
  await boundary.stop()
  assert.equal(readFileSync(join(tmp.path, ".vscode/settings.json"), "utf8"), "{}")
  assert.deepEqual(readdirSync(tmp.path), [".vscode"])
})

test("git works outside while a boundary runs", { skip }, async () => {
  await using tmp = await tmpdir({ git: true })
  const boundary = await start(tmp, "read -r _")
  assert.equal(readFileSync(join(tmp.path, ".git/commondir"), "utf8"), ".\n")
  tmp.write("new.txt", "x\n")
  assert.equal(tmp.git("status", "--short"), "?? new.txt\n")
  tmp.git("add", "-A")
  tmp.git("commit", "-qm", "while it runs")
  await boundary.stop()
  assert.match(tmp.git("log", "--oneline"), /while it runs/)
  assert.equal(existsSync(join(tmp.path, ".git/commondir")), false)
})

test("a commit works inside", { skip }, async () => {
  await using tmp = await tmpdir({ git: true })
  const commit = "git -c user.name=t -c user.email=t@localhost commit -qm inside"
  const { child, ended } = await start(tmp, `echo x >new.txt && git add -A && ${commit} && git log --oneline`)
  assert.match(await output(child), /inside/)
  await ended
  assert.equal(tmp.git("status", "--short"), "")
})

test("what is mounted later on this machine does not appear inside", { skip: skip || asRoot() }, async () => {
  await using tmp = await tmpdir()
  mkdirSync(join(tmp.path, "later"))
  // In a mount namespace that shares its mounts, as most machines do.
  const shared = `"$0" "$1" "$2" & until [ -e "$2/up" ]; do sleep 0.05; done; mount -t tmpfs none "$2/later"; touch "$2/later/x" "$2/go"; wait; umount "$2/later"`
  const program = `touch up; until [ -e go ]; do sleep 0.05; done; ls later | sed "s/^/seen /"; echo done`
  const { stdout } = await promisify(execFile)(
    "unshare",
    ["--mount", "--propagation", "shared", "bash", "-c", shared, process.execPath, starter, tmp.path],
    { env: { ...tmp.env, PATH: process.env.PATH, PROGRAM: program }, timeout: 30_000 },
  )
  assert.equal(stdout.split("\n")[0], "done")
})

const invalid: [title: string, policy: (tmp: Tmp) => Partial<Policy>, reason: RegExp][] = [
  ["a wildcard in a path", () => ({ denyRead: ["**/.env"] }), /"\*\*\/\.env" has a wildcard/],
  ["the whole file system as writable", () => ({ allowWrite: ["/"] }), /\/ cannot be writable/],
  [
    "a folder of the kernel as writable",
    () => ({ allowWrite: ["/proc/sys"] }),
    /\/proc\/sys cannot be writable/,
  ],
  [
    "a host with a path",
    () => ({ allowedDomains: ["example.com/x"] }),
    /expected a host such as example\.com/,
  ],
  ["every host", () => ({ allowedDomains: ["*"] }), /expected a host such as example\.com/],
]
for (const [title, policy, reason] of invalid)
  test(`${title} is refused`, { skip }, async () => {
    await using tmp = await tmpdir()
    await assert.rejects(start(tmp, "true", policy(tmp)), reason)
    assert.deepEqual(readdirSync(tmp.path), [])
    await until(() => running(tmp.path).length === 0, "nothing is left")
  })

test("a protected name that is a link is refused, because it could be replaced", { skip }, async () => {
  await using tmp = await tmpdir()
  mkdirSync(join(tmp.path, "real"))
  symlinkSync("real", join(tmp.path, ".husky"))
  await assert.rejects(start(tmp, "true"), /\.husky is a symbolic link, which cannot be protected/)
  assert.deepEqual(readdirSync(tmp.path), [".husky", "real"])
})

test("a missing writable folder is created; the folder around it stays read-only", { skip }, async () => {
  await using tmp = await tmpdir()
  const { child } = await start(tmp, "touch output/x && touch y || echo refused", {
    allowWrite: ["./output"],
  })
  assert.equal(await output(child), "refused\n")
  assert.ok(existsSync(join(tmp.path, "output/x")))
})

test("programs reach an allowed host through the proxy, and allowUrl decides on others", {
  skip,
}, async () => {
  await using tmp = await tmpdir()
  const server = createServer(({ url }, response) => response.end(`page ${url}`)).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const asked: string[] = []
  const allowUrl = async (url: string) => {
    asked.push(url)
    // A name that leads to a public and to a private address, as a rebinding one may.
    return checkUrl(url, { resolve: async () => ["93.184.216.34", "127.0.0.1"] })
  }
  const get = (url: string) => `fetch("${url}").then((r) => r.text(), (e) => "failed").then(console.log)`
  const script = `node -e '${get(`http://localhost:${port}/a`)}.then(() => ${get("http://rebinding.test/b")})'`
  try {
    const { child, ended } = await start(tmp, script, { allowedDomains: [`localhost:${port}`] }, { allowUrl })
    assert.equal(await output(child), "page /a\nfailed\n")
    assert.ok(asked.length > 0 && asked.every((url) => url.includes("//rebinding.test")), asked.join())
    await ended
  } finally {
    server.close()
  }
})

test("checkSandbox() says what isolates, and as whom", { skip }, async () => {
  await using _ = await tmpdir()
  const { isolated, by, user, pid } = await checkSandbox()
  assert.deepEqual([isolated, by, pid], [true, "bubblewrap", undefined])
  assert.ok(user)
})

async function start(
  tmp: Tmp,
  script: string,
  policy: Partial<Policy> = {},
  more: Partial<Options> = {},
): Promise<Boundary> {
  const usual = { directory: tmp.path, allowWrite: ["."], denyRead: [], allowedDomains: [], timeout: 30_000 }
  const command = ["--norc", "-c", script]
  return startBoundary(
    { ...usual, ...policy },
    { command: "bash", args: command, env: { PATH: process.env.PATH! }, ...more },
  )
}

async function output({ stdin, stdout }: ChildProcess): Promise<string> {
  stdin!.end()
  return text(stdout!)
}

/** A process that starts a boundary and waits. */
function startHost(t: TestContext, tmp: Tmp, script: string): ChildProcess {
  const code = `
    const { startBoundary } = await import("#ability/sandbox/sandbox.ts")
    const policy = { directory: ${JSON.stringify(tmp.path)}, allowWrite: ["."], denyRead: [], allowedDomains: [] }
    await startBoundary(policy, { command: "bash", args: ["--norc", "-c", ${JSON.stringify(script)}], env: { PATH: process.env.PATH } })
  `
  const cwd = join(import.meta.dirname, "../../..")
  const host = spawn(process.execPath, ["--input-type=module", "-e", code], {
    cwd,
    env: tmp.env,
    stdio: "inherit",
  })
  t.after(() => host.kill("SIGKILL"))
  return host
}

function allNames({ path }: Tmp): string[] {
  return readdirSync(path, { recursive: true, encoding: "utf8" }).sort()
}

function asRoot(): string | false {
  return process.getuid!() === 0 ? false : "the tests do not run as root"
}
