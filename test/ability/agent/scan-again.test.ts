// Agents whose files or whose trust change after they were loaded.
import assert from "node:assert/strict"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { builtinAgents } from "#ability/agent/builtin-agents.ts"
import { defineAgent } from "#ability/agent/define-agent.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { agentFiles, code, folder, trusting } from "./agent-files.ts"
import { inProject } from "./harness.ts"

const says = (systemPrompt: string) => `---\n---\n${systemPrompt}\n`

test("AgentRegistry.load() sees added, changed and removed files, and changes of trust", async () => {
  const allow = "---\npermissions: [{ permission: todo, pattern: '*', action: allow }]\n---\nhi\n"
  await inProject(
    async (tmp) => {
      const ids = async () => {
        await AgentRegistry.load()
        const all = AgentRegistry.list().map(({ id }) => id)
        return all.filter((id) => !builtinAgents.some((agent) => agent.id === id))
      }
      assert.deepEqual(await ids(), ["one"])
      defineAgent({ id: "mine" })
      tmp.write(`${folder}one.md`, says("second"))
      tmp.write(`${folder}two.md`, allow)
      tmp.write(`${folder}three.ts`, code.replaceAll("analyst-ts", "three"))
      assert.deepEqual(await ids(), ["mine", "one", "two"])
      assert.equal(AgentRegistry.get("one").systemPrompt, "second")
      assert.deepEqual(AgentRegistry.get("two").permissions, [])
      await Trust.grant(tmp.path)
      assert.deepEqual(await ids(), ["mine", "one", "three", "two"])
      assert.equal(AgentRegistry.get("two").permissions.length, 1)
      rmSync(join(tmp.path, folder, "three.ts"))
      rmSync(join(tmp.path, folder, "one.md"))
      assert.deepEqual(await ids(), ["mine", "two"])
      await Trust.remove(tmp.path)
      await ids()
      assert.deepEqual(AgentRegistry.get("two").permissions, [])
      rmSync(join(tmp.path, folder), { recursive: true })
      assert.deepEqual(await ids(), ["mine"])
    },
    { files: agentFiles({ "one.md": says("first") }) },
  )
})

test("no other agent replaces one whose trusted file cannot be used", async () => {
  await inProject(
    async (tmp) => {
      await AgentRegistry.load()
      const broken = { name: "Agent.Invalid", message: /build\.md:2:1: permisions: .*"permissions"/ }
      assert.throws(() => AgentRegistry.get("build"), broken)
      await assert.rejects(AgentRegistry.getDefault(), broken)
      assert.equal(AgentRegistry.find("build"), undefined)
      tmp.write(`${folder}build.md`, says("mine"))
      await Trust.grant(tmp.path)
      assert.equal((await AgentRegistry.getDefault()).systemPrompt, "mine")
      rmSync(join(tmp.path, folder, "build.md"))
      assert.equal((await AgentRegistry.getDefault()).systemPrompt, "")
    },
    {
      prepare: trusting,
      files: agentFiles({ "build.md": "---\npermisions: []\n---\nhi\n" }),
    },
  )
  await inProject(async () => assert.equal((await AgentRegistry.getDefault()).id, "build"), {
    files: agentFiles({ "build.md": "---\npermisions: []\n---\nhi\n" }),
  })
})

const denies = (pattern: string) => ({ permission: "file.write", pattern, action: "deny" as const })
const withRules = (...rules: object[]) => `---\npermissions: ${JSON.stringify(rules)}\n---\nhi\n`
const allows = { permission: "bash.execute", pattern: "*", action: "allow" }

for (const [name, content] of [
  ["build.md", withRules(denies("secret"))],
  ["build.ts", `export default { id: "build", permissions: ${JSON.stringify([denies("secret")])} }`],
] as const)
  test(`deny rules of a trusted ${name} stay in force after the file changed or was removed, until that is reviewed`, async () => {
    await inProject(
      async (tmp) => {
        const permissions = async () => {
          await AgentRegistry.load()
          return AgentRegistry.get("build").permissions
        }
        const builtin = AgentRegistry.get("build").permissions
        assert.deepEqual(await permissions(), [denies("secret")])
        rmSync(join(tmp.path, folder, name))
        assert.deepEqual(await permissions(), [...builtin, denies("secret")])
        tmp.write(`${folder}build.md`, withRules(allows))
        assert.deepEqual(await permissions(), [...builtin, denies("secret")])
        rmSync(join(tmp.path, folder), { recursive: true })
        assert.deepEqual(await permissions(), [...builtin, denies("secret")])
        tmp.write(`${folder}build.md`, withRules(allows))
        await Trust.grant(tmp.path)
        assert.deepEqual(await permissions(), [allows])
      },
      { prepare: trusting, files: agentFiles({ [name]: content }) },
    )
  })

test("ask rules of a trusted agent stay in force after its file changed or was removed, until that is reviewed", async () => {
  const asks = { permission: "file.read", pattern: "secret", action: "ask" }
  await inProject(
    async (tmp) => {
      const permissions = async (id: string) => {
        await AgentRegistry.load()
        return AgentRegistry.get(id).permissions
      }
      const builtin = AgentRegistry.get("build").permissions
      assert.deepEqual(await permissions("build"), [asks, denies("x")])
      tmp.write(`${folder}one.md`, withRules(allows, denies("secret")))
      rmSync(join(tmp.path, folder, "build.md"))
      assert.deepEqual(await permissions("build"), [...builtin, asks, denies("x")])
      assert.deepEqual(await permissions("one"), [asks, denies("secret"), denies("x")])
    },
    {
      prepare: trusting,
      files: agentFiles({
        "build.md": withRules(asks, denies("x")),
        "one.md": withRules(asks, denies("x"), allows),
      }),
    },
  )
})

test("after a change, the file of a trusted agent counts as untrusted: its allow rules are ignored and its code does not run", async () => {
  await inProject(
    async (tmp) => {
      await AgentRegistry.load()
      assert.deepEqual(AgentRegistry.get("one").permissions, [allows])
      tmp.write(`${folder}one.md`, withRules(allows, denies("x")))
      tmp.write(`${folder}two.ts`, `globalThis.ranTwo = true\n${code}`)
      const { ignored } = await AgentRegistry.scanAndRegister(folder)
      assert.deepEqual(AgentRegistry.get("one").permissions, [denies("x")])
      assert.equal(Object.hasOwn(globalThis, "ranTwo"), false)
      assert.deepEqual(
        ignored.map(({ key, reason }) => [key, reason.split(";")[0]]),
        [
          ["permissions[0]", "it changed since it was reviewed"],
          ["two.ts", "it is new since the folder was reviewed"],
        ],
      )
    },
    { prepare: trusting, files: agentFiles({ "one.md": withRules(allows) }) },
  )
})
