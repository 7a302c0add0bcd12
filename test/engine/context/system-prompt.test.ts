// The system prompt: short, with the project's instructions, and the same bytes each time.
import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { defineAgent } from "#ability/agent/define-agent.ts"
import { systemPrompt } from "#engine/context/system-prompt.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import { inWorld, type World } from "../session/harness.ts"

const usual = { isTask: false, mode: "act" as const, grounding: [] }
const ofBuild = () => systemPrompt(AgentRegistry.get("build"), usual)
const inProject = (fn: (world: World) => Promise<unknown>, config?: object) =>
  inWorld([], fn, config ? { config } : {})

test("the base of the system prompt is short", async (t) => {
  await inProject(async ({ tmp }) => {
    const length = Buffer.byteLength((await ofBuild()).replaceAll(tmp.path, ""))
    t.diagnostic(`${length} bytes`)
    assert.ok(length < 1_400, `${length} bytes`)
  })
})

test("the system prompt has the base, the agent's prompt, the folder and the project's instructions, in that order", async () => {
  await inProject(async ({ tmp }) => {
    tmp.write("AGENTS.md", "Use tabs.\n")
    const agent = defineAgent({ id: "x", systemPrompt: "Be brief." })
    const words = [
      "You are vitamin",
      "Be brief.",
      `Working directory: ${tmp.path}`,
      "from AGENTS.md:\n\nUse tabs.",
    ]
    const prompt = await systemPrompt(agent, usual)
    const places = words.map((word) => prompt.indexOf(word))
    assert.ok(!places.includes(-1), String(places))
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    )
  })
})

test("the system prompt lists agents for tasks, if the agent can give tasks", async () => {
  await inProject(async () => {
    assert.doesNotMatch(await ofBuild(), /Agents for subtask/)
    defineAgent({ id: "scout", metadata: { description: `Finds\nthings. ${"x".repeat(500)}` } })
    defineAgent({ id: "medic", domain: "health", capabilities: ["wound.dress"] })
    assert.match(
      await ofBuild(),
      /\n\nAgents for subtask:\n- medic: health, wound\.dress\n- scout: Finds things\. x{100,140}\n\n/,
    )
    const alone = defineAgent({ id: "alone", tools: ["read"] })
    assert.doesNotMatch(await systemPrompt(alone, usual), /Agents for subtask/)
  })
})

test("CLAUDE.md and GEMINI.md replace a missing AGENTS.md, and a configured file replaces all of them", async () => {
  await inProject(async ({ tmp }) => {
    assert.doesNotMatch(await ofBuild(), /instructions, from/)
    for (const name of ["GEMINI.md", "CLAUDE.md", "AGENTS.md"]) {
      tmp.write(name, `in ${name}`)
      assert.match(await ofBuild(), new RegExp(`from ${name}:\n\nin ${name}$`))
    }
  })
  await inProject(
    async ({ tmp }) => {
      tmp.write("AGENTS.md", "no")
      assert.doesNotMatch(await ofBuild(), /instructions, from/)
      tmp.write("docs/rules.md", "yes")
      assert.match(await ofBuild(), /from docs\/rules\.md:\n\nyes$/)
    },
    { rules: { root: "docs/rules.md" } },
  )
})

test("the project's instructions are cut at 32 KB between characters, and say so", async () => {
  await inProject(async ({ tmp }) => {
    tmp.write("AGENTS.md", `a${"é".repeat(20_000)}`)
    const prompt = await ofBuild()
    assert.match(prompt, /é\n\[cut here: AGENTS\.md has 40001 bytes, read it for the rest\]$/)
    assert.ok(Buffer.byteLength(prompt) < 35_000)
    assert.doesNotMatch(prompt, /\ufffd/)
    tmp.write("AGENTS.md", "x".repeat(32 << 10))
    assert.doesNotMatch(await ofBuild(), /cut here/)
  })
})

test("instructions with a BOM or invalid UTF-8 are read; links out of the work tree, folders and empty files are not", async () => {
  await inProject(async ({ tmp }) => {
    tmp.write("AGENTS.md", "\ufeffwith a mark")
    assert.match(await ofBuild(), /AGENTS\.md:\n\nwith a mark$/)
    tmp.write("AGENTS.md", Buffer.from([0x61, 0xff, 0x62]))
    assert.match(await ofBuild(), /a\ufffdb$/)
    tmp.write("AGENTS.md", " \n")
    tmp.write("CLAUDE.md/file", "")
    tmp.write("../secret", "the secret")
    symlinkSync(join(tmp.path, "../secret"), join(tmp.path, "GEMINI.md"))
    assert.doesNotMatch(await ofBuild(), /instructions, from|the secret/)
  })
})

test("the system prompt and the tools are the same bytes from turn to turn and from prompt to prompt", async () => {
  await inWorld([call("ls"), call("ls", { path: "." }), text("a"), text("b")], async ({ tmp, ask, llm }) => {
    tmp.write("AGENTS.md", "Use tabs.")
    await ask("one")
    await ask("two")
    const heads = llm.requests.map(({ body, system }) => JSON.stringify([system, body.tools]))
    assert.equal(heads.length, 4)
    assert.equal(new Set(heads).size, 1)
  })
})
