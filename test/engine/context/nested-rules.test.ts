// Rules of subfolders: sent once, when a tool has touched a file there, within a share of the model's window.
import assert from "node:assert/strict"
import { mkdirSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { Rule } from "#ability/permission/rule.ts"
import { nestedRules } from "#engine/context/nested-rules.ts"
import { addNotes, rulesBudget } from "#engine/context/notes.ts"
import { settle } from "#engine/record/append.ts"
import { createRights } from "#engine/rights/rights.ts"
import { createProgress, type Run } from "#engine/run/run.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import * as Message from "#knowledge/message/message.ts"
import { inWorld, type World } from "../session/harness.ts"

type Teller = {
  world: World
  /** Makes the calls, adds the notes that follow their results, and returns these notes. */
  touch(
    ...calls: [tool: string, args: Message.Json | object, status?: "success" | "error"][]
  ): Promise<string[]>
  /** From here on, the model gets none of the earlier messages. */
  compact(): void
  /** The texts of all notes that were sent. */
  told(): string[]
}

/** A session whose calls are stored as if a model had made them. `context` is the window of its model. */
async function withTeller(fn: (teller: Teller) => Promise<unknown>, context = 200_000): Promise<void> {
  await inWorld([], async (world) => {
    const history = Memory.begin(world.session.id)
    const denied: Rule[] = [{ permission: "file.read", pattern: "denied/**", action: "deny" }]
    const agent = { id: "build", permissions: [] }
    const rights = createRights({ session: world.session, agent, rules: denied })
    const run = {
      session: world.session,
      progress: createProgress(history),
      chosen: { facts: { context } } as Run["chosen"],
      permits: { rights } as Run["permits"],
    }
    const place = () => ({
      sessionId: world.session.id,
      parentId: history.at(-1)?.id ?? null,
      branch: "main",
    })
    let id = 0
    const touch: Teller["touch"] = async (...calls) => {
      const made = calls.map(([name, args]) => ({
        id: `call_${id++}`,
        name,
        arguments: args as Message.Json,
        approval: "approved" as const,
      }))
      const request = Message.make({ ...place(), type: "tool_request", data: { calls: made } })
      history.push(request)
      for (const [i, call] of made.entries())
        history.push(
          Message.make({
            ...place(),
            type: "tool_result",
            data: {
              requestId: call.id,
              toolName: call.name,
              status: calls[i]![2] ?? "success",
              output: "",
              duration: 0,
              timestamp: 0,
            },
          }),
        )
      const notes = await nestedRules(run, request)
      addNotes(run, notes)
      return notes.map(({ name }) => name)
    }
    const compact = () => {
      const parameters = { summary: "Something was done.", keptFrom: null }
      history.push(
        Message.make({ ...place(), type: "system_control", data: { control: "compaction", parameters } }),
      )
    }
    const told = () =>
      history.flatMap((message) =>
        message.type === "text" && message.data.origin
          ? [message.data.parts.map(({ text }) => text).join()]
          : [],
      )
    await fn({ world, touch, compact, told })
    await settle(run.progress.records)
    Memory.rest(world.session.id)
  })
}

test("the rules of folders above a touched file are sent once, from the root down", async () => {
  await withTeller(async ({ world: { tmp }, touch, told }) => {
    tmp.write("AGENTS.md", "Of the root.")
    tmp.write("src/AGENTS.md", "Small files.")
    tmp.write("src/auth/AGENTS.md", "Never log a token.")
    tmp.write("src/auth/login/form.ts", "")
    assert.deepEqual(await touch(["read", { path: "README.md" }]), [])
    assert.deepEqual(await touch(["edit", { path: "src/auth/login/form.ts" }]), [
      "src/AGENTS.md",
      "src/auth/AGENTS.md",
    ])
    assert.match(told()[1]!, /"src\/auth\/AGENTS\.md":\n<rule>\nNever log a token\.\n<\/rule>$/)
    assert.deepEqual(await touch(["read", { path: "src/auth/login/form.ts" }], ["ls", { path: "src" }]), [])
    assert.equal(told().length, 2)
    // A changed file is sent again.
    tmp.write("src/AGENTS.md", "Small files, and few of them.")
    assert.deepEqual(await touch(["read", { path: "src/auth/x.ts" }]), ["src/AGENTS.md"])
    assert.deepEqual(await touch(["read", { path: "src/auth/x.ts" }]), [])
  })
})

test("each successful call with a path touches it, also a folder; a failed call touches nothing", async () => {
  await withTeller(async ({ world: { tmp }, touch }) => {
    for (const name of ["a", "b", "c", "d", "e", "f"]) tmp.write(`${name}/AGENTS.md`, `Of ${name}.`)
    assert.deepEqual(await touch(["ls", { path: "a" }]), ["a/AGENTS.md"])
    assert.deepEqual(await touch(["glob", { pattern: "*", path: "b" }]), ["b/AGENTS.md"])
    assert.deepEqual(await touch(["grep", { pattern: "x", path: join(tmp.path, "c") }]), ["c/AGENTS.md"])
    assert.deepEqual(await touch(["write", { path: "d/new.ts", content: "" }]), ["d/AGENTS.md"])
    assert.deepEqual(await touch(["read", { path: "e/x" }, "error"]), [])
    assert.deepEqual(await touch(["bash", { command: "cat e/x", path: "e/x" }]), [])
    assert.deepEqual(await touch(["ls", {}], ["glob", { pattern: "**/*" }], ["read", null]), [])
    // A model that reads the file itself has seen it.
    assert.deepEqual(await touch(["read", { path: "f/AGENTS.md" }]), [])
  })
})

test("CLAUDE.md and GEMINI.md replace a missing AGENTS.md in a subfolder too", async () => {
  await withTeller(async ({ world: { tmp }, touch }) => {
    tmp.write("a/GEMINI.md", "Of a.")
    tmp.write("a/CLAUDE.md", "Of a.")
    tmp.write("b/GEMINI.md", "Of b.")
    tmp.write("c/AGENTS.md", "  \n")
    const paths = ["a", "b", "c"].map((name): [string, object] => ["read", { path: `${name}/x` }])
    assert.deepEqual(await touch(...paths), ["a/CLAUDE.md", "b/GEMINI.md"])
  })
})

test("rule files that are not text files of the project are not sent", async () => {
  await withTeller(async ({ world: { tmp }, touch, told }) => {
    const outside = join(tmp.path, "..", "outside")
    mkdirSync(join(outside, "sub"), { recursive: true })
    tmp.write("../outside/AGENTS.md", "From outside.")
    tmp.write("../outside/sub/AGENTS.md", "From outside.")
    mkdirSync(join(tmp.path, "a"))
    symlinkSync(join(outside, "AGENTS.md"), join(tmp.path, "a/AGENTS.md"))
    symlinkSync(outside, join(tmp.path, "b"))
    tmp.write("c/AGENTS.md", new Uint8Array([0x4d, 0, 1, 2]))
    mkdirSync(join(tmp.path, "d/AGENTS.md"), { recursive: true })
    mkdirSync(join(tmp.path, "e"))
    symlinkSync("AGENTS.md", join(tmp.path, "e/AGENTS.md"))
    tmp.write("AGENTS.md", "Of the root.")
    mkdirSync(join(tmp.path, "f"))
    symlinkSync("../AGENTS.md", join(tmp.path, "f/AGENTS.md"))
    const paths = ["a/x", "b/sub/x", "c/x", "d/x", "e/x", "f/x", "../outside/sub/x", "/etc/x", "", "\0"]
    assert.deepEqual(await touch(...paths.map((path): [string, object] => ["read", { path }])), [])
    assert.deepEqual(told(), [])
  })
})

test("the rules of a folder with two names are sent once", async () => {
  await withTeller(async ({ world: { tmp }, touch }) => {
    tmp.write("src/AGENTS.md", "Of src.")
    symlinkSync("src", join(tmp.path, "lib"))
    assert.deepEqual(await touch(["read", { path: "src/x" }], ["read", { path: "lib/x" }]), ["src/AGENTS.md"])
  })
})

test("rules use at most a tenth of the window; further ones are only named", async () => {
  await withTeller(async ({ world: { tmp, session }, touch, told }) => {
    const line = "Keep this module free of side effects, please.\n"
    for (let i = 0; i < 12; i++) tmp.write(`m${i}/AGENTS.md`, line.repeat(40))
    tmp.write("huge/AGENTS.md", line.repeat(600))
    const budget = rulesBudget(session.id, { context: 32_000 })
    assert.deepEqual(budget, { linked: 800, nested: 3_200, each: 1_600 })
    // A file that is larger than its share is cut.
    await touch(["read", { path: "huge/x" }])
    assert.match(told()[0]!, /\[cut here: read huge\/AGENTS\.md for the rest of 28200 bytes\]/)
    for (let i = 0; i < 12; i++) await touch(["read", { path: `m${i}/x` }])
    const all = told()
    const shown = all.filter((text) => text.includes("free of side effects"))
    const named = all.filter((text) =>
      /Not shown, to save tokens \(1880 bytes\)\. Read m\d+\/AGENTS\.md/.test(text),
    )
    assert.ok(shown.length >= 2 && named.length >= 6, `${shown.length} ${named.length}`)
    assert.equal(shown.length + named.length, 13)
    const tokens = shown.reduce((sum, text) => sum + estimateTokens(text), 0)
    assert.ok(tokens > 1_600 && tokens <= 3_200, `${tokens}`)
    for (let i = 0; i < 12; i++) assert.deepEqual(await touch(["read", { path: `m${i}/x` }]), [])
  }, 32_000)
})

test("the number of rule files that are only named is limited, and one note says that there are more", async () => {
  await withTeller(async ({ world: { tmp }, touch, told }) => {
    for (let i = 0; i < 60; i++)
      tmp.write(`m${i}/AGENTS.md`, "Keep this module free of side effects, please.\n".repeat(80))
    for (let i = 0; i < 60; i++) await touch(["read", { path: `m${i}/x` }])
    const named = told().filter((text) => text.includes("Not shown, to save tokens"))
    const further = told().filter((text) => text.includes("Further folders have rules"))
    assert.deepEqual([named.length, further.length], [20, 1])
    assert.ok(told().length < 30, `${told().length}`)
  }, 32_000)
})

test("a deleted rule file is forgotten, and sent again after its return only if it changed", async () => {
  await withTeller(async ({ world: { tmp }, touch, told }) => {
    tmp.write("src/AGENTS.md", "Small files.")
    await touch(["read", { path: "src/x" }])
    rmSync(join(tmp.path, "src/AGENTS.md"))
    assert.deepEqual(await touch(["read", { path: "src/x" }]), [])
    tmp.write("src/AGENTS.md", "Large files.")
    assert.deepEqual(await touch(["read", { path: "src/x" }]), ["src/AGENTS.md"])
    assert.equal(told().length, 2)
  })
})

test("rules that a compaction dropped are sent again, with budget left for others", async () => {
  await withTeller(async ({ world: { tmp, session }, touch, compact }) => {
    const text = "Keep this module free of side effects, please.\n".repeat(60)
    for (const name of ["a", "b", "c", "d", "e", "f"]) tmp.write(`${name}/AGENTS.md`, text)
    for (const name of ["a", "b", "c", "d", "e"]) await touch(["read", { path: `${name}/x` }])
    assert.ok(rulesBudget(session.id, { context: 32_000 }).nested < 400)
    assert.deepEqual(await touch(["read", { path: "a/x" }]), [])
    compact()
    assert.equal(rulesBudget(session.id, { context: 32_000 }).nested, 3_200)
    assert.deepEqual(await touch(["read", { path: "a/x" }]), ["a/AGENTS.md"])
    assert.deepEqual(await touch(["read", { path: "a/x" }]), [])
  }, 32_000)
})

test("rule files that the rules deny are not sent", async () => {
  await withTeller(async ({ world: { tmp }, touch }) => {
    tmp.write("denied/AGENTS.md", "Of a folder that may not be read.")
    tmp.write("src/AGENTS.md", "Of another.")
    const paths = ["denied/x", "src/x"].map((path): [string, object] => ["ls", { path }])
    assert.deepEqual(await touch(...paths), ["src/AGENTS.md"])
  })
})
