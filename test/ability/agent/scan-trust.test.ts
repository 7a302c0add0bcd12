// What agent files may do in trusted folders, in untrusted folders, and in the person's own folders.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { test } from "node:test"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import * as Global from "#kernel/process/global.ts"
import * as Trust from "#kernel/trust/trust.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { agentFiles, code, folder, markdown, trusting, yaml } from "./agent-files.ts"
import { inProject } from "./harness.ts"

test("in an untrusted folder allow rules and TypeScript are ignored and reported; the rest is used", async () => {
  await inProject(
    async (tmp) => {
      const ran = JSON.stringify(join(tmp.path, "ran"))
      tmp.write(`${folder}code.ts`, `import { writeFileSync } from "node:fs"\nwriteFileSync(${ran}, "")`)
      const { registered, problems, ignored } = await AgentRegistry.scanAndRegister(folder)
      assert.deepEqual(registered, ["one", "two"])
      assert.deepEqual(problems, [])
      assert.deepEqual(
        ignored.map(({ file, key }) => `${basename(file)} ${key}`),
        ["code.ts code.ts", "one.yaml permissions[0]", "two.md permissions[0]"],
      )
      for (const { reason } of ignored) assert.match(reason, /not trusted; "vitamin trust"/)
      for (const id of registered)
        assert.deepEqual(AgentRegistry.get(id).permissions, [
          { permission: "bash.execute", pattern: "*", action: "deny" },
        ])
      assert.equal(existsSync(join(tmp.path, "ran")), false)
    },
    {
      files: agentFiles({
        "one.yaml": yaml,
        "two.md": markdown,
      }),
    },
  )
})

test("an untrusted folder replaces no existing agent; a trusted one does", async () => {
  const files = agentFiles({ "build.md": "---\n---\nI am the new one.", "mine.md": "---\n---\nProject's" })
  const own = (tmp: Tmp) => {
    mkdirSync(join(Global.config(), "agents"), { recursive: true })
    writeFileSync(join(Global.config(), "agents", "mine.md"), "---\n---\nPerson's")
    return tmp
  }
  await inProject(
    async () => {
      await AgentRegistry.load()
      assert.equal(AgentRegistry.get("build").systemPrompt, "")
      assert.equal(AgentRegistry.get("mine").systemPrompt, "Person's")
      const { registered, ignored } = await AgentRegistry.scanAndRegister(folder)
      assert.deepEqual(registered, [])
      assert.deepEqual(
        ignored.map(({ key }) => key),
        ["agent build", "agent mine"],
      )
    },
    { files, prepare: own },
  )
  await inProject(
    async () => {
      await AgentRegistry.load()
      assert.equal(AgentRegistry.get("build").systemPrompt, "I am the new one.")
      assert.equal(AgentRegistry.get("mine").systemPrompt, "Project's")
    },
    { files, prepare: (tmp) => trusting(own(tmp)) },
  )
})

test("the person's own folder may allow and run code, wherever it is used", async () => {
  await inProject(
    async () => {
      await AgentRegistry.load()
      assert.equal(AgentRegistry.get("analyst-ts").permissions[0]?.action, "allow")
    },
    {
      prepare() {
        mkdirSync(join(Global.config(), "agents"), { recursive: true })
        writeFileSync(join(Global.config(), "agents", "a.ts"), code)
      },
    },
  )
})

test("agents of an untrusted folder are not read through links that lead out of it", async () => {
  await inProject(async (tmp) => {
    tmp.write("../elsewhere/secret.yaml", "id: secret")
    mkdirSync(join(tmp.path, folder), { recursive: true })
    symlinkSync(join(tmp.path, "../elsewhere/secret.yaml"), join(tmp.path, folder, "link.yaml"))
    const { registered, problems } = await AgentRegistry.scanAndRegister(folder)
    assert.deepEqual(registered, [])
    assert.match(problems[0]!.message, /leads outside/)
  })
})

test("a folder that only links to a trusted one is not trusted for that", async () => {
  await inProject(async (tmp) => {
    tmp.write("../trusted/agents/a.ts", code)
    await Trust.grant(join(tmp.path, "../trusted"))
    mkdirSync(join(tmp.path, ".vitamin"))
    symlinkSync(join(tmp.path, "../trusted/agents"), join(tmp.path, ".vitamin/agents"))
    const { registered, ignored } = await AgentRegistry.scanAndRegister(folder)
    assert.deepEqual([registered, ignored.length], [[], 1])
  })
})
