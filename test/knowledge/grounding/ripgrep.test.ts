// ripgrep, wherever it comes from: found, run without our secrets, stopped and ended.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Global from "#kernel/process/global.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Ripgrep from "#knowledge/grounding/ripgrep.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

async function search(options: Partial<Parameters<typeof Ripgrep.run>[0]> & { cwd: string }) {
  const pieces: string[] = []
  const outcome = await Ripgrep.run({
    args: ["--files", "--sort=path"],
    separator: "\n",
    onPiece: (piece) => void pieces.push(piece),
    ...options,
  })
  return { ...outcome, pieces }
}

async function withPath<T>(path: string, fn: () => T | Promise<T>): Promise<T> {
  const before = process.env.PATH
  process.env.PATH = path
  try {
    return await fn()
  } finally {
    process.env.PATH = before
  }
}

test("Ripgrep.find() gives the binary of the package", () => {
  const command = Ripgrep.find()
  assert.match(command.file, /@vscode\/ripgrep-[\w-]+\/bin\/rg$/)
  assert.match(execFileSync(command.file, ["--version"], { encoding: "utf8" }), /^ripgrep 15/)
})

for (const [source, from] of [
  ["packaged", Ripgrep.packaged],
  ["onPath", Ripgrep.onPath],
  ["wasm", Ripgrep.wasm],
] as const)
  test(`Ripgrep.run() works the same with ripgrep from ${source}()`, async () => {
    await using tmp = await tmpdir({ git: true })
    tmp.write(".gitignore", "ignored\n")
    tmp.write("ignored", "")
    tmp.write("sub/b.txt", "needle 1\n")
    const bin = join(tmp.path, "..", "bin")
    mkdirSync(bin)
    symlinkSync(Ripgrep.packaged()!.file, join(bin, "rg"))
    const command = await withPath(`${bin}:${process.env.PATH}`, from)
    assert.ok(command)
    const listed = await search({ cwd: tmp.path, command })
    assert.deepEqual(listed, { code: 0, errors: "", timedOut: false, pieces: ["README.md", "sub/b.txt"] })
    const found = await search({ cwd: tmp.path, command, args: ["--line-number", "needle", "."] })
    assert.deepEqual(found.pieces, ["./sub/b.txt:1:needle 1"])
    const none = await search({ cwd: tmp.path, command, args: ["nowhere", "."] })
    assert.deepEqual([none.code, none.pieces], [1, []])
    const bad = await search({ cwd: tmp.path, command, args: ["foo(", "."] })
    assert.equal(bad.code, 2)
    assert.match(bad.errors, /unclosed group/)
  })

test("Ripgrep.onPath() skips relative folders and files that are not executable", async () => {
  await using tmp = await tmpdir()
  tmp.write("rg", "#!/bin/sh\necho hijacked\n")
  chmodSync(join(tmp.path, "rg"), 0o755)
  tmp.write("plain/rg", "")
  const before = process.cwd()
  process.chdir(tmp.path)
  assert.equal(await withPath(`.::plain:${join(tmp.path, "plain")}`, () => Ripgrep.onPath()), undefined)
  process.chdir(before)
  assert.equal((await withPath(tmp.path, () => Ripgrep.onPath()))?.file, join(tmp.path, "rg"))
})

test("Ripgrep.wasm() stores its code in our own cache, not in a shared folder", async () => {
  await using tmp = await tmpdir()
  tmp.write("a", "")
  const command = Ripgrep.wasm()!
  assert.deepEqual((await search({ cwd: tmp.path, command })).pieces, ["a"])
  assert.equal(command.env?.TMPDIR, Global.cache())
  assert.equal(statSync(Global.cache()).mode & 0o777, 0o700)
})

test("Ripgrep.run() reads no configuration, and none of our secrets are in its environment", async () => {
  await using tmp = await tmpdir()
  tmp.write("a.txt", "x")
  tmp.write("config", "--invalid-option\n")
  const script = tmp.write("fake", "#!/bin/sh\nenv\n")
  writeFileSync(script, '#!/bin/sh\nenv; echo "$@"\n', { mode: 0o755 })
  chmodSync(script, 0o755)
  Secret.register("ripgrep-secret-1234", "key")
  process.env.RIPGREP_CONFIG_PATH = join(tmp.path, "config")
  process.env.RG_TEST_KEY = "ripgrep-secret-1234"
  process.env.RG_TEST_OTHER = "kept"
  try {
    assert.deepEqual((await search({ cwd: tmp.path, args: ["--files", "--glob=a*"] })).pieces, ["a.txt"])
    const { pieces } = await search({ cwd: tmp.path, command: { file: script, args: [] }, args: ["last"] })
    assert.ok(pieces.includes("RG_TEST_OTHER=kept"))
    assert.equal(pieces.at(-1), "--no-config --color=never --regex-size-limit=10M last")
    assert.doesNotMatch(pieces.join("\n"), /ripgrep-secret/)
  } finally {
    for (const name of ["RIPGREP_CONFIG_PATH", "RG_TEST_KEY", "RG_TEST_OTHER"]) delete process.env[name]
  }
})

test("Ripgrep.run() ends ripgrep when the callback has enough", async () => {
  await using tmp = await tmpdir()
  tmp.write("a.txt", "match\n".repeat(200_000))
  let seen = 0
  const { code } = await search({ cwd: tmp.path, args: ["match", "."], onPiece: () => ++seen < 10 })
  assert.deepEqual([code, seen], [undefined, 10])
})

test("Ripgrep.run() throws the reason of an abort, once the process is gone", {
  timeout: 30_000,
}, async () => {
  await using tmp = await tmpdir()
  const fifo = join(tmp.path, "fifo")
  execFileSync("mkfifo", [fifo])
  const script = tmp.write("fake", "")
  writeFileSync(script, '#!/bin/sh\necho "$$"\nexec cat\n')
  chmodSync(script, 0o755)
  const fd = openSync(fifo, constants.O_RDWR)
  const stop = new AbortController()
  let pid = 0
  const pending = search({
    cwd: tmp.path,
    command: { file: script, args: [] },
    stdin: fd,
    signal: stop.signal,
    onPiece: (line) => {
      pid = Number(line)
      stop.abort(new Error("enough"))
    },
  })
  await assert.rejects(pending, /enough/)
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" })
  await assert.rejects(search({ cwd: tmp.path, signal: stop.signal }), /enough/)
  closeSync(fd)
})

test("Ripgrep.run() splits at NUL, gives the last piece without one, and cuts pieces that do not end", async () => {
  await using tmp = await tmpdir()
  const print = (script: string) => ({ file: process.execPath, args: ["-e", script, "--"] })
  const nul = print("process.stdout.write('a\\0b\\nc\\0d')")
  assert.deepEqual((await search({ cwd: tmp.path, command: nul, separator: "\0" })).pieces, [
    "a",
    "b\nc",
    "d",
  ])
  const split = print(
    "const b = Buffer.from('€\\n'); process.stdout.write(b.subarray(0, 1)); setTimeout(() => process.stdout.write(b.subarray(1)), 20)",
  )
  assert.deepEqual((await search({ cwd: tmp.path, command: split })).pieces, ["€"])
  const endless = print("for (let i = 0; i < 100; i++) process.stdout.write('x'.repeat(100_000))")
  const { pieces } = await search({ cwd: tmp.path, command: endless })
  assert.equal(pieces.length, 1)
  assert.ok(pieces[0]!.length < 2e6, String(pieces[0]!.length))
})

test("Ripgrep.run() says when the program cannot be started", async () => {
  await using tmp = await tmpdir()
  const command = { file: join(tmp.path, "missing"), args: [] }
  await assert.rejects(search({ cwd: tmp.path, command }), { code: "ENOENT" })
})
