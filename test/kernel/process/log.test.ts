// Log lines as another program sees them: on stderr or in a file, one line each, without secrets.
import assert from "node:assert/strict"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { afterEach, test } from "node:test"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { run } from "../../fixture/child.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

afterEach(() => {
  Log.setFile(undefined)
  Log.setLevel("warn")
})

const lineStart = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /

/** What a function logs, without the times. */
async function logged(fn: () => void): Promise<string[]> {
  await using tmp = await tmpdir()
  const file = join(tmp.path, "log")
  Log.setFile(file)
  Log.error("begin")
  fn()
  const lines = readFileSync(file, "utf8").split("\n")
  assert.equal(lines.pop(), "")
  for (const line of lines) assert.match(line, lineStart)
  assert.equal(statSync(file).mode & 0o077, 0)
  return lines.slice(1).map((line) => line.replace(lineStart, ""))
}

const all = () => {
  Log.debug("debug")
  Log.info("info")
  Log.warn("warn")
  Log.error("error")
}

test("Log prints lines at its level or above", async () => {
  const shown = { debug: 4, info: 3, warn: 2, error: 1 }
  for (const [level, count] of Object.entries(shown)) {
    Log.setLevel(level.toUpperCase())
    const expected = ["DEBUG debug", "INFO  info", "WARN  warn", "ERROR error"].slice(-count)
    assert.deepEqual(await logged(all), expected)
  }
})

test("Log.setLevel() refuses an unknown level and keeps the current one", async () => {
  Log.setLevel("INFO")
  assert.throws(() => Log.setLevel("loud"), {
    name: "RangeError",
    message: 'Log level "loud" does not exist. Available: debug, info, warn, error',
  })
  assert.equal(Log.enabled("info"), true)
  assert.equal(Log.enabled("debug"), false)
})

test("Log goes to stderr, never to stdout, at the level of VITAMIN_LOG", async () => {
  await using tmp = await tmpdir()
  const script = tmp.write(
    "log.mts",
    `import * as Log from "${new URL("../../../src/kernel/process/log.ts", import.meta.url)}"
    for (const level of Log.levels) Log[level]("a " + level)
    Log.setFile("/nowhere/at/all")
    Log.error("back on stderr")`,
  )
  const levelsOf = async (level: string) => {
    await using child = run(process.execPath, [script], { env: { ...tmp.env, VITAMIN_LOG: level } })
    assert.equal(await child.exit, 0)
    assert.deepEqual(child.lines, [])
    assert.match(child.errors(), /ERROR back on stderr\n$/)
    return [...child.errors().matchAll(/ a (\w+)\n/g)].map((match) => match[1])
  }
  assert.deepEqual(await levelsOf("Debug"), ["debug", "info", "warn", "error"])
  assert.deepEqual(await levelsOf(""), ["warn", "error"])
  assert.deepEqual(await levelsOf("nonsense"), ["warn", "error"])
})

test("Log writes plain sentences to stderr, and full log lines at level info or debug", async () => {
  await using tmp = await tmpdir()
  const script = tmp.write(
    "log.mts",
    `import * as Log from "${new URL("../../../src/kernel/process/log.ts", import.meta.url)}"
    Log.warn("the index could not be read", { error: new Error("no space\\u001b[2J"), file: "a.db", tries: 2 })
    Log.error("it ended")`,
  )
  const said = async (level: string) => {
    await using child = run(process.execPath, [script], { env: { ...tmp.env, VITAMIN_LOG: level } })
    await child.exit
    return child.errors()
  }
  assert.equal(
    await said("warn"),
    "warning: the index could not be read: no space\\u001b[2J (file: a.db, tries: 2)\nerror: it ended\n",
  )
  assert.match(await said("info"), /^\S+Z WARN {2}the index could not be read error=.* file=a\.db tries=2\n/)
})

test("Log shows fields after the message, whatever they are", async () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const fields = {
    path: "/a/b.ts",
    text: 'two "words"',
    empty: "",
    n: 1,
    none: undefined,
    list: [1, "a"],
    big: 10n,
    error: new Error("went wrong"),
    circular,
  }
  assert.deepEqual(await logged(() => Log.warn("message", fields)), [
    'WARN  message path=/a/b.ts text="two \\"words\\"" empty="" n=1 none=undefined list=[1,"a"] big=10 error="went wrong" circular=[object Object]',
  ])
})

test("Log shows the stack of an error at debug only", async () => {
  const fail = () => Log.error("failed", { error: new Error("went wrong") })
  assert.doesNotMatch((await logged(fail))[0]!, /log\.test\.ts/)
  Log.setLevel("debug")
  assert.match((await logged(fail))[0]!, /went wrong\\n +at .*log\.test\.ts/)
})

test("Log escapes characters that forge a line or control a terminal, in messages, names and values", async () => {
  const evil = "a\nERROR forged\r\u001b[2J\u009b2J\u0007\u202e\u2066\u007f"
  const lines = await logged(() => Log.warn(evil, { [evil]: evil, list: [evil] }))
  assert.equal(lines.length, 1)
  assert.doesNotMatch(lines[0]!, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  assert.match(
    lines[0]!,
    /^WARN {2}a\\u000aERROR forged\\u000d\\u001b\[2J\\u009b2J\\u0007\\u202e\\u2066\\u007f /,
  )
})

test("Log redacts known secrets in messages, names and values, also those of several lines", async () => {
  const key = "-----BEGIN KEY-----\nlog-secret-body\n-----END KEY-----\n"
  Secret.register(key, "private key")
  Secret.register("log-token-123", "log token")
  const lines = await logged(() =>
    Log.warn(`with ${key} and log-token-123`, {
      value: key,
      nested: { key: [key] },
      error: new Error(`bad log-token-123`),
      "log-token-123": 1,
      like: "log-token-124",
    }),
  )
  assert.deepEqual(lines, [
    'WARN  with [private key] and [log token] value="[private key]" nested={"key":["[private key]"]} error="bad [log token]" [log token]=1 like=log-token-124',
  ])
})
