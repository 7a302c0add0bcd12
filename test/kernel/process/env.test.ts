// The environment of this process and of its children.
import assert from "node:assert/strict"
import { chmodSync, existsSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { afterEach, test } from "node:test"
import * as Env from "#kernel/process/env.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Vcs from "#kernel/vcs.ts"
import { run } from "../../fixture/child.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

afterEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith("ENV_TEST")) delete process.env[name]
})

test("Env.get() returns the current value of a variable, or undefined", () => {
  assert.equal(Env.get("ENV_TEST"), undefined)
  process.env.ENV_TEST = "one"
  assert.equal(Env.get("ENV_TEST"), "one")
  process.env.ENV_TEST = ""
  assert.equal(Env.get("ENV_TEST"), "")
})

test("Env.all() is a copy of everything", () => {
  process.env.ENV_TEST = "one"
  const all = Env.all()
  assert.deepEqual(all, { ...process.env })
  all.ENV_TEST = "two"
  assert.equal(process.env.ENV_TEST, "one")
})

test("Env.forChild() leaves out variables that contain a known secret, and a child never sees them", async () => {
  Secret.register("env-secret-0123", "key")
  process.env.ENV_TEST_KEY = "env-secret-0123"
  process.env.ENV_TEST_HEADER = "Bearer env-secret-0123"
  process.env.ENV_TEST_LIKE = "env-secret-0124"
  const env = Env.forChild()
  assert.equal(Env.all().ENV_TEST_KEY, "env-secret-0123")
  for (const name of ["ENV_TEST_KEY", "ENV_TEST_HEADER"]) delete process.env[name]
  await using child = run(process.execPath, ["-e", "console.log(JSON.stringify(process.env))"], { env })
  const seen = JSON.parse(await child.line(/^{/))
  assert.equal(seen.ENV_TEST_LIKE, "env-secret-0124")
  assert.equal(seen.PATH, process.env.PATH)
  assert.equal("ENV_TEST_KEY" in seen || "ENV_TEST_HEADER" in seen, false)
})

test("Env.forCommand() leaves out credentials that the person has not named, and process.env keeps them all", async () => {
  process.env.ENV_TEST_TOKEN = "token-of-another-0123"
  process.env.ENV_TEST_SECRET = "secret-of-another-0123"
  Secret.register("held-by-us-0123", "key")
  process.env.ENV_TEST_OURS_TOKEN = "held-by-us-0123"
  assert.equal("ENV_TEST_TOKEN" in Env.forCommand([]), false)
  const env = Env.forCommand(["ENV_TEST_TOKEN", "ENV_TEST_OURS_TOKEN"])
  assert.equal(env.ENV_TEST_TOKEN, "token-of-another-0123")
  assert.equal(env.ENV_TEST_OURS_TOKEN, "held-by-us-0123")
  assert.equal("ENV_TEST_SECRET" in env, false)
  assert.deepEqual(
    Env.lostByName(["ENV_TEST_TOKEN"]).filter((name) => name.startsWith("ENV_TEST")),
    ["ENV_TEST_OURS_TOKEN", "ENV_TEST_SECRET"],
  )
  assert.equal(Env.get("ENV_TEST_SECRET"), "secret-of-another-0123")
})

test("Env.forServer() has base variables, and proxies without a password", async () => {
  const given = { HTTP_PROXY: "http://proxy:1", HTTPS_PROXY: "http://me:pass@proxy:1", ENV_TEST: "1" }
  await withEnv(given, () => {
    const env = Env.forServer()
    assert.equal(env.PATH, process.env.PATH)
    assert.equal(env.HTTP_PROXY, "http://proxy:1")
    for (const name of ["HTTPS_PROXY", "ENV_TEST"]) assert.equal(name in env, false, name)
  })
})

test("withheld variables are removed from /proc/self/environ, and stay in process.env", async () => {
  const script = `
    const Env = await import(${JSON.stringify(import.meta.resolve("#kernel/process/env.ts"))})
    const { readFileSync } = await import("node:fs")
    Env.forCommand(["PASSED_TOKEN"])
    const shown = readFileSync("/proc/self/environ", "latin1").split(String.fromCharCode(0)).filter((line) => /_TOKEN/.test(line))
    console.log(JSON.stringify({ shown, own: process.env.SOME_TOKEN, child: Env.all().SOME_TOKEN }))`
  const env = { SOME_TOKEN: "tökens-0123", PASSED_TOKEN: "passed-0123", LAST_TOKEN: "last-0123" }
  await using child = run(process.execPath, ["--input-type=module", "-e", script], { env })
  const { shown, own, child: copy } = JSON.parse(await child.line(/^{/))
  assert.deepEqual(shown.sort(), ["LAST_TOKEN=", "PASSED_TOKEN=passed-0123", "SOME_TOKEN="])
  assert.deepEqual([own, copy], ["tökens-0123", "tökens-0123"])
})

/** Runs with these environment variables, then restores the old ones. */
async function withEnv(values: Record<string, string>, fn: () => Promise<void> | void): Promise<void> {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, values)
  try {
    await fn()
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }
}

test("Env.forChild() keeps base variables, unless the whole value is a secret", async () => {
  Secret.register("ordinary-word", "key")
  const names = [
    "PATH",
    "HOME",
    "SHELL",
    "USER",
    "LANG",
    "LC_CTYPE",
    "TERM",
    "TMPDIR",
    "PWD",
    "XDG_DATA_HOME",
  ]
  const valued = (value: string) => Object.fromEntries(names.map((name) => [name, value]))
  await withEnv({ ...valued("/home/ordinary-word/x"), ENV_TEST_PATH: "/home/ordinary-word/x" }, () => {
    const env = Env.forChild()
    for (const name of names) assert.equal(env[name], "/home/ordinary-word/x", name)
    assert.equal("ENV_TEST_PATH" in env, false)
  })
  await withEnv(valued("ordinary-word"), () => {
    const env = Env.forChild()
    for (const name of names) assert.equal(name in env, false, name)
  })
})

test("Vcs.git() passes git the variables that it needs and no others", async () => {
  await using tmp = await tmpdir()
  chmodSync(tmp.write("bin/git", "#!/bin/sh\nexec /usr/bin/env\n"), 0o755)
  const given = { ANTHROPIC_API_KEY: "sk-never-held", ENV_TEST_X: "x", GIT_DIR: "/nowhere", LOGNAME: "me" }
  await withEnv({ ...given, PATH: `${join(tmp.path, "bin")}:${process.env.PATH}` }, async () => {
    const out = await Vcs.git(tmp.path, ["rev-parse", "HEAD"])
    const names = out.split("\n").map((line) => line.split("=")[0]!)
    for (const name of ["PATH", "HOME", "LOGNAME", "XDG_CONFIG_HOME", "GIT_NO_LAZY_FETCH"])
      assert.ok(names.includes(name), name)
    for (const name of ["ANTHROPIC_API_KEY", "ENV_TEST_X", "GIT_DIR"])
      assert.equal(names.includes(name), false, name)
  })
})

test("Vcs.git() refuses the commands that would run a filter of the repository", async () => {
  await using tmp = await tmpdir({ git: true })
  const marker = join(tmp.path, "../marker")
  tmp.write(".gitattributes", "* filter=evil\n")
  tmp.git("config", "filter.evil.clean", `touch ${marker}; cat`)
  utimesSync(join(tmp.path, "README.md"), 1, 1)
  for (const command of ["status", "diff", "add"]) {
    const args = [command, "."] as unknown as Parameters<typeof Vcs.git>[1]
    await assert.rejects(Vcs.git(tmp.path, args), {
      name: "Vcs.CommandRefused",
      message: /filters.*rev-list/,
    })
  }
  assert.match(await Vcs.git(tmp.path, ["rev-parse", "HEAD"]), /^[0-9a-f]{40}\n$/)
  assert.equal(existsSync(marker), false)
  tmp.git("status")
  assert.equal(existsSync(marker), true, "git alone would have run it")
})
