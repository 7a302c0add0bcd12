// The gate for all tools: the order of its checks, what reaches `execute`, and what it returns.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { runTool, type Slots } from "#ability/tool/run-tool.ts"
import * as Tool from "#ability/tool/tool.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { call, free, inProject } from "./harness.ts"

/** A tool that notes what reaches it. */
function probe(execute: (args: { n: number }, context: Tool.Context) => Promise<Tool.Output | Tool.Json>) {
  const seen: unknown[] = []
  Tool.define("probe", () => ({
    description: "test",
    parameters: z.object({
      n: z.number().max(10),
      mode: z.enum(["a", "b"]).optional(),
      list: z.array(z.string()).optional(),
      deep: z.object({ x: z.boolean() }).optional(),
    }),
    permission: ({ n }) => [{ permission: "probe.run", target: String(n) }],
    async execute(args, context) {
      seen.push(args)
      return execute(args, context)
    },
  }))
  return seen
}

test("runTool() goes through validate, constraint, permission, snapshot, execute in that order", async () => {
  await inProject(async () => {
    const steps: string[] = []
    probe(async ({ n }) => {
      steps.push(`execute ${n}`)
      return { text: "done", data: { n }, title: "Probe" }
    })
    const note = (name: string) => (step: { tool: { id: string }; needs: Tool.Need[] }) => {
      steps.push(`${name} ${step.tool.id} ${step.needs.map(({ permission, target }) => permission + target)}`)
      return undefined
    }
    const slots: Slots = { constrain: note("constrain"), permit: note("permit"), snapshot: note("snapshot") }
    const { duration, ...result } = await call("probe", { n: 1 }, { slots })
    assert.deepEqual(result, { status: "success", text: "done", data: { n: 1 }, title: "Probe" })
    assert.ok(Number.isInteger(duration))
    const rest = "probe probe.run1"
    assert.deepEqual(steps, [`constrain ${rest}`, `permit ${rest}`, `snapshot ${rest}`, "execute 1"])
  })
})

for (const [slot, by] of [
  ["constrain", "constraint"],
  ["permit", "permission"],
] as const)
  test(`runTool() stops if ${slot} refuses, and gives the reason`, async () => {
    await inProject(async () => {
      const seen = probe(async () => "ran")
      let snapshots = 0
      const slots: Slots = {
        ...free,
        [slot]: () => ({ message: "not today" }),
        snapshot: () => void snapshots++,
      }
      const result = await call("probe", { n: 1 }, { slots })
      assert.equal(result.status, "error")
      assert.equal(result.text, "not today")
      assert.equal(result.refused, by)
      assert.equal(result.error?.recoverable, true)
      assert.deepEqual([seen.length, snapshots], [0, 0])
    })
  })

test("runTool() does not run a tool whose snapshot failed", async () => {
  await inProject(async () => {
    const seen = probe(async () => "ran")
    const slots = { ...free, snapshot: () => Promise.reject(new Error("disk full")) }
    assert.equal((await call("probe", { n: 1 }, { slots })).text, "disk full")
    assert.deepEqual(seen, [])
  })
})

const malformed: [args: Tool.Json, ...says: RegExp[]][] = [
  [{}, /- n: missing, expected number/],
  [null, /- n: missing, expected number/],
  [{ n: "1" }, /- n: expected number, received "1"/],
  [{ n: null }, /- n: expected number, received null/],
  [{ n: 11 }, /- n: Too big: expected number to be <=10, received 11/],
  [{ n: 1, m: 2 }, /- "m" is not a parameter/],
  [{ n: 1, mod: "a" }, /- "mod" is not a parameter; did you mean "mode"\?/],
  [{ n: 1, mode: "c" }, /- mode: .*"a"\|"b", received "c"/],
  [{ n: 1, list: ["a", 2] }, /- list\.1: expected string, received 2/],
  [{ n: 1, deep: { x: 1 } }, /- deep\.x: expected boolean, received 1/],
  [[], /- arguments: expected object, received \[\]/],
  ['{"n":1}', /- arguments: expected object, received "/],
  [7, /- arguments: expected object, received 7/],
  [{ n: "x".repeat(9_000), mode: 1 }, /received "x{79}…/, /- mode: /],
]
for (const [args, ...says] of malformed)
  test(`runTool() refuses the arguments ${JSON.stringify(args).slice(0, 40)} and names the expected ones`, async () => {
    await inProject(async () => {
      const seen = probe(async () => "ran")
      const result = await call("probe", args, { slots: free })
      assert.equal(result.status, "error")
      for (const pattern of says) assert.match(result.text, pattern)
      assert.match(result.text, /^The arguments of "probe" do not fit, so it was not run:/)
      assert.ok(
        result.text.endsWith(
          'Parameters: n: number, mode?: "a" | "b", list?: list of string, deep?: { x: boolean }',
        ),
      )
      assert.equal(result.error?.recoverable, true)
      assert.deepEqual(seen, [])
    })
  })

test("runTool() reports where arguments are not valid JSON", async () => {
  await inProject(async () => {
    const seen = probe(async () => "ran")
    const context = { sessionId: "s", messageId: "m", callId: "c", signal: new AbortController().signal }
    const invalid = { id: "c", name: "probe", arguments: { n: 1 }, invalid: '{"n": 1' }
    const result = await runTool({ call: invalid, context, slots: free })
    assert.match(result.text, /expected a JSON object, received "\{\\"n\\": 1" \(.*JSON/)
    assert.deepEqual(seen, [])
  })
})

for (const name of ["prob", "", "__proto__", "constructor", "read\0"])
  test(`runTool() answers the unknown tool ${JSON.stringify(name)} with a list of tools`, async () => {
    await inProject(async () => {
      const result = await call(name, {})
      assert.equal(result.status, "error")
      assert.match(result.text, /^Tool ".*" does not exist\. Available: .*read/)
      assert.equal(result.error?.recoverable, true)
    })
  })

test("runTool() by default allows reading inside the workspace and nothing else", async () => {
  await inProject(async (tmp) => {
    tmp.write("a.txt", "text")
    tmp.write("../outside.txt", "text")
    const outside = join(dirname(tmp.path), "outside.txt")
    const seen = probe(async () => "ran")
    assert.equal((await call("read", { path: "a.txt" })).text, "1\ttext")
    const refused = await call("probe", { n: 1 })
    assert.equal(
      refused.text,
      `"probe" was not run: probe.run of "1" needs a person's permission, and nobody can be asked here. --yes would allow it.`,
    )
    assert.equal(refused.refused, "permission")
    for (const tool of ["read", "ls", "grep"]) {
      const result = await call(tool, { path: outside, ...(tool === "grep" ? { pattern: "x" } : {}) })
      assert.match(
        result.text,
        /\(outside of the workspace\) needs a person's permission, and nobody can be asked here\. --allow "file\.read:/,
      )
    }
    Tool.define("silent", () => ({ description: "", parameters: z.object({}), execute: async () => "ran" }))
    assert.match((await call("silent", {})).text, /tool\.execute of "silent" needs a person's permission/)
    assert.deepEqual(seen, [])
  })
})

test("runTool() from a folder below the worktree may read all of the worktree", async () => {
  await inProject(
    async (tmp) => {
      tmp.write("sub/x.txt", "x")
      const { Instance } = await import("#kernel/instance.ts")
      await Instance.provide({
        directory: join(tmp.path, "sub"),
        fn: async () => {
          assert.equal((await call("read", { path: "../README.md" })).text, "1\t# fixture")
          assert.equal((await call("glob", { pattern: "*.md", path: ".." })).text, "../README.md")
        },
      })
    },
    { git: true },
  )
})

test("runTool() converts all return values of tools into one form", async () => {
  await inProject(async () => {
    const results: [returned: unknown, text: string, data: unknown][] = [
      ["plain", "plain", undefined],
      [{ a: [1] }, '{"a":[1]}', { a: [1] }],
      [[1, "b"], '[1,"b"]', [1, "b"]],
      [7, "7", 7],
      [null, "null", null],
      [undefined, "null", null],
      [{ text: "t", data: null }, "t", null],
    ]
    for (const [returned, text, data] of results) {
      probe(async () => returned as Tool.Json)
      const result = await call("probe", { n: 1 }, { slots: free })
      assert.deepEqual([result.status, result.text, result.data], ["success", text, data])
    }
    const circle: Record<string, unknown> = {}
    circle.self = circle
    probe(async () => circle as Tool.Json)
    const bad = await call("probe", { n: 1 }, { slots: free })
    assert.equal(bad.status, "error")
    assert.match(bad.text, /cannot be written as JSON/)
  })
})

const thrown: [what: unknown, message: RegExp, recoverable: boolean][] = [
  [new TypeError("x is not a function"), /^x is not a function$/, false],
  [Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" }), /ENOENT/, true],
  [Object.assign(new Error("no space"), { code: "ENOSPC" }), /no space/, false],
  [new Tool.InvalidId("x y"), /cannot be used/, true],
  ["a string", /^a string$/, false],
  [undefined, /undefined/, false],
  [Object.create(null), /Object/, false],
  [new Error(""), /Error/, false],
]
for (const [what, message, recoverable] of thrown)
  test(`runTool() turns a thrown ${String(what instanceof Error ? what.name : typeof what)} into a result (${message})`, async () => {
    await inProject(async () => {
      probe(() => Promise.reject(what))
      const result = await call("probe", { n: 1 }, { slots: free })
      assert.equal(result.status, "error")
      assert.match(result.text, message)
      assert.equal(result.error?.message, result.text)
      assert.equal(result.error?.recoverable, recoverable)
      assert.equal(typeof result.error?.stack === "string", what instanceof Error)
    })
  })

test("runTool() is interrupted before a call, during it, and if the tool ignores the signal", async () => {
  await inProject(async () => {
    const before = probe(async () => "ran")
    const aborted = await call("probe", { n: 1 }, { slots: free, signal: AbortSignal.abort() })
    assert.equal(aborted.status, "interrupted")
    assert.deepEqual(before, [])
    for (const listens of [true, false]) {
      const stop = new AbortController()
      probe(async (_, { signal }) => {
        setImmediate(() => stop.abort())
        await (listens ? sleep(60_000, undefined, { signal, ref: false }) : new Promise(() => {}))
        return "never"
      })
      const result = await call("probe", { n: 1 }, { slots: free, signal: stop.signal })
      assert.equal(result.status, "interrupted")
      assert.equal(result.error?.message, "The call was interrupted.")
    }
  })
})

test("runTool() does not run a tool that is allowed only after the abort", async () => {
  await inProject(async () => {
    const seen = probe(async () => "ran")
    const stop = new AbortController()
    const answered = Promise.withResolvers<undefined>()
    const pending = call(
      "probe",
      { n: 1 },
      { signal: stop.signal, slots: { permit: () => answered.promise } },
    )
    setImmediate(() => stop.abort())
    assert.equal((await pending).status, "interrupted")
    answered.resolve(undefined)
    await sleep(5)
    assert.deepEqual(seen, [])
  })
})

test("runTool() cuts long text to 50 KB and stores it where the same session may read it", async () => {
  await inProject(async () => {
    const whole = Array.from({ length: 30_000 }, (_, i) => `line ${i}`).join("\n")
    probe(async () => ({ text: whole, data: { whole } }))
    const result = await call("probe", { n: 1 }, { slots: free, callId: "call_9" })
    assert.equal(result.status, "success")
    assert.ok(Buffer.byteLength(result.text) <= 50_000)
    assert.equal(result.data, undefined)
    const file = / in (\S+\.txt),/.exec(result.text)![1]!
    assert.match(file, /\/outputs\/ses_1\/call_9\.txt$/)
    assert.equal(readFileSync(file, "utf8"), whole)
    assert.equal(
      (await call("read", { path: file, startLine: 20_001, endLine: 20_001 })).text,
      "20001\tline 20000",
    )
    assert.match((await call("grep", { path: file, pattern: "line 2999\\d" })).text, /30000:line 29999/)
    const other = await call("read", { path: file }, { sessionId: "ses_2" })
    assert.match(other.text, /\(outside of the workspace\) needs a person's permission/)
  })
})

test("runTool() bounds the text of an error too", async () => {
  await inProject(async () => {
    probe(() => Promise.reject(new Error("€".repeat(100_000))))
    const result = await call("probe", { n: 1 }, { slots: free })
    assert.ok(Buffer.byteLength(result.text) <= 50_000)
    assert.ok(result.error!.stack!.length <= 4_000)
  })
})

test("runTool() redacts our secrets by value, and nothing that only looks like one", async () => {
  await inProject(async (tmp) => {
    Secret.register("tool-secret-98765", "key")
    tmp.write(".env", "KEY=tool-secret-98765\nLIKE=tool-secret-98764\n")
    const result = await call("read", { path: ".env" })
    assert.equal(result.text, "1\tKEY=[key]\n2\tLIKE=tool-secret-98764")
    probe(() => Promise.reject(new Error("bad key tool-secret-98765")))
    assert.doesNotMatch(JSON.stringify(await call("probe", { n: 1 }, { slots: free })), /98765/)
    probe(async () => ({ text: "t", data: { a: "tool-secret-98765" } }))
    assert.deepEqual((await call("probe", { n: 1 }, { slots: free })).data, { a: "[key]" })
  })
})
