// Agents in files: YAML, Markdown and TypeScript, good and bad, in folders that are trusted and that are not.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { test } from "node:test"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { defineAgent } from "#ability/agent/define-agent.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Trust from "#kernel/trust/trust.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { inProject } from "./harness.ts"

const folder = ".vitamin/agents/"
const trusting = (tmp: Tmp) => Trust.grant(tmp.path)
const agentFiles = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [folder + name, content]))

const yaml = `domain: analysis
role: specialist
capabilities: [data.analyze]
tools: [read, grep]
temperature: 0.2
permissions:
  - { permission: file.write, pattern: "reports/**", action: allow }
  - { permission: bash.execute, pattern: "*", action: deny }
systemPrompt: |-
  Look at numbers.

  Then say what they mean.
metadata: { description: Reads data }
`
const markdown = `---
${yaml.replace(/systemPrompt: [\s\S]*(?=metadata)/, "")}---

Look at numbers.

Then say what they mean.
`
const code = `import { defineAgent } from "vitamin"
export const analyst = defineAgent({
  id: "analyst-ts",
  domain: "analysis",
  capabilities: ["data.analyze"],
  tools: ["read", "grep"],
  temperature: 0.2 as number,
  permissions: [
    { permission: "file.write", pattern: "reports/**", action: "allow" },
    { permission: "bash.execute", pattern: "*", action: "deny" },
  ],
  systemPrompt: "Look at numbers.\\n\\nThen say what they mean.",
  metadata: { description: "Reads data" },
})
`

test("AgentRegistry.scanAndRegister() reads .yaml, .yml, .md and .ts, each as the same definition as in code", async () => {
  await inProject(
    async (tmp) => {
      const { registered, problems, ignored } = await AgentRegistry.scanAndRegister(folder)
      assert.deepEqual([problems, ignored], [[], []])
      assert.deepEqual(registered, ["analyst-md", "analyst-ts", "analyst-yaml", "analyst-yml"])
      const {
        id: _,
        name: __,
        ...expected
      } = defineAgent({
        id: "expected",
        domain: "analysis",
        capabilities: ["data.analyze"],
        tools: ["read", "grep"],
        temperature: 0.2,
        permissions: [
          { permission: "file.write", pattern: "reports/**", action: "allow" },
          { permission: "bash.execute", pattern: "*", action: "deny" },
        ],
        systemPrompt: "Look at numbers.\n\nThen say what they mean.",
        metadata: { description: "Reads data" },
      })
      for (const id of registered) assert.deepEqual(AgentRegistry.get(id), { ...expected, id, name: id })
      assert.equal(AgentRegistry.fileOf("analyst-md"), join(tmp.path, folder, "analyst-md.md"))
    },
    {
      prepare: trusting,
      files: agentFiles({
        "analyst-yaml.yaml": yaml,
        "analyst-yml.yml": yaml,
        "analyst-md.md": `\ufeff${markdown.replaceAll("\n", "\r\n")}`,
        "analyst-ts.ts": code,
        "analyst.d.ts": "export {}",
        ".hidden.yaml": "id: hidden",
        "notes.txt": "no agent",
      }),
    },
  )
})

const levels = [..."bcdefghi"].map((name, i) => `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[i]}`)}]`)
const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]", ...levels].join("\n")

for (const [name, content, says] of [
  ["rights.yaml", "domain: x\npermision: [a]\n", /rights\.yaml:2:1: permision: .*"permissions"/],
  ["unknown.md", "---\ndomain: x\ntool: [read]\n---\nHello\n", /unknown\.md:3:1: tool: .*"tools"/],
  ["types.yaml", "id: types\ntemperature: warm\n", /types\.yaml:2:1: temperature: expected number/],
  ["types.md", "---\nmaxTokens: -3\n---\nHello\n", /types\.md:2:1: maxTokens/],
  [
    "rule.yaml",
    "permissions:\n  - permission: file.wirte\n    pattern: '*'\n    action: deny\n",
    /rule\.yaml:2:5: permissions\[0\]\.permission: .*"file\.write"/,
  ],
  ["list.yaml", "- a\n- b\n", /expected an object, received a list/],
  ["empty.yaml", "", /expected an object, received null/],
  ["twice.yaml", "id: a\nid: b\n", /twice\.yaml:2:1: the key "id" is there twice/],
  ["bomb.yaml", bomb, /more than 20 aliases/],
  ["bomb.md", `---\n${bomb}\n---\nHello\n`, /more than 20 aliases/],
  ["deep.yaml", `metadata: ${"[".repeat(50_000)}`, /nested too deep/],
  ["proto.yaml", "metadata:\n  __proto__: { a: 1 }\n", /"__proto__" is not allowed/],
  ["js.md", '---js\nmodule.exports = { id: "js" }\n---\nHello\n', /front matter of the kind "js"/],
  ["open.md", "---\nid: open\n", /not closed/],
  ["plain.md", "# A heading\n", /begins with "---"/],
  ["double.md", "---\nsystemPrompt: a\n---\nb\n", /systemPrompt: the text below/],
  ["id.yaml", "id: ../../etc\n", /id: expected letters/],
  ["big.yaml", `systemPrompt: ${"x".repeat(200_000)}\n`, /characters of YAML are too many/],
  ["big.md", `---\n---\n${"x".repeat(1 << 20)}\n`, /bytes are too many; the limit is 1048576/],
  ["latin.md", "---\nid: \xe9\n---\n", /id: expected letters/],
  ["none.ts", "export const answer = 42", /exports no agent/],
  ["throws.ts", 'throw new Error("not today")', /throws\.ts:1:7: not today/],
  ["syntax.ts", "export const = 3", /syntax\.ts/],
  ["wrong.ts", 'export default { id: "wrong", temperatur: 1 }', /wrong\.ts: temperatur: .*"temperature"/],
] as const)
  test(`AgentRegistry.scanAndRegister() names what is wrong with ${name}, and takes the files around it`, async () => {
    await inProject(
      async (tmp) => {
        const { registered, problems } = await AgentRegistry.scanAndRegister(folder)
        assert.deepEqual(registered, ["aaa", "zzz"])
        assert.equal(problems.length, 1)
        assert.equal(problems[0]!.file, join(tmp.path, folder, name))
        assert.match(problems[0]!.message, says)
      },
      {
        prepare: trusting,
        files: agentFiles({ "aaa.yaml": "domain: a", [name]: content, "zzz.md": "---\n---\nz" }),
      },
    )
  })

test("AgentRegistry.scanAndRegister() keeps the first of two files with one id, and names the other", async () => {
  await inProject(
    async () => {
      for (let time = 0; time < 2; time++) {
        const { registered, problems } = await AgentRegistry.scanAndRegister(folder)
        assert.deepEqual(registered, ["same"])
        assert.deepEqual(
          problems.map(({ file, message }) => [
            basename(file),
            /"same" is already that of .*a\.yaml/.test(message),
          ]),
          [["b.md", true]],
        )
      }
      assert.equal(AgentRegistry.get("same").domain, "first")
    },
    {
      files: agentFiles({
        "a.yaml": "id: same\ndomain: first",
        "b.md": "---\nid: same\ndomain: second\n---\n",
      }),
    },
  )
})

test("in an untrusted folder allow rules and TypeScript are ignored and named, the rest counts", async () => {
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

test("an untrusted folder replaces no agent that is there; a trusted one does", async () => {
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

test("AgentRegistry.scanAndRegister() takes so many files and bytes of a folder and no more", async () => {
  const many = Object.fromEntries(Array.from({ length: 520 }, (_, i) => [`a${1_000 + i}.md`, "---\n---\n"]))
  const large = Object.fromEntries(
    Array.from({ length: 5 }, (_, i) => [`a${i}.md`, `---\n---\n${"x".repeat(1_000_000)}`]),
  )
  for (const [files, count] of [
    [many, 500],
    [large, 4],
  ] as const)
    await inProject(
      async () => {
        const { registered, problems } = await AgentRegistry.scanAndRegister(folder)
        assert.deepEqual([registered.length, problems.length], [count, 1])
        assert.match(problems[0]!.message, /left out/)
      },
      { files: agentFiles(files) },
    )
})

test("AgentRegistry.scanAndRegister() of a folder that is not there says so; load() does not mind", async () => {
  await inProject(async () => {
    await AgentRegistry.load()
    await assert.rejects(AgentRegistry.scanAndRegister("nowhere"), { name: "Agent.FolderNotFound" })
  })
})

test("a TypeScript file gives its agents to every Instance that scans it, changed ones anew", async () => {
  await inProject(
    async (tmp) => {
      await AgentRegistry.load()
      tmp.write("inner/file", "")
      const inside = () =>
        Instance.provide({
          directory: join(tmp.path, "inner"),
          async fn() {
            assert.equal(AgentRegistry.find("analyst-ts"), undefined)
            await AgentRegistry.scanAndRegister(join(tmp.path, folder))
            return AgentRegistry.get("analyst-ts").domain
          },
        })
      await Trust.grant(join(tmp.path, folder), { also: [join(tmp.path, folder)] })
      assert.equal(await inside(), "analysis")
      tmp.write(`${folder}a.ts`, code.replace('domain: "analysis"', 'domain: "other"'))
      await Trust.grant(tmp.path)
      await AgentRegistry.scanAndRegister(folder)
      assert.equal(AgentRegistry.get("analyst-ts").domain, "other")
    },
    { prepare: trusting, files: agentFiles({ "a.ts": code }) },
  )
})

const says = (systemPrompt: string) => `---\n---\n${systemPrompt}\n`

test("AgentRegistry.load() sees files that came, changed and went, and trust that was given or taken", async () => {
  const allow = "---\npermissions: [{ permission: todo, pattern: '*', action: allow }]\n---\nhi\n"
  await inProject(
    async (tmp) => {
      const ids = async () => {
        await AgentRegistry.load()
        return AgentRegistry.list().map(({ id }) => id)
      }
      assert.deepEqual(await ids(), ["build", "one", "plan"])
      defineAgent({ id: "mine" })
      tmp.write(`${folder}one.md`, says("second"))
      tmp.write(`${folder}two.md`, allow)
      tmp.write(`${folder}three.ts`, code.replaceAll("analyst-ts", "three"))
      assert.deepEqual(await ids(), ["build", "mine", "one", "plan", "two"])
      assert.equal(AgentRegistry.get("one").systemPrompt, "second")
      assert.deepEqual(AgentRegistry.get("two").permissions, [])
      await Trust.grant(tmp.path)
      assert.deepEqual(await ids(), ["build", "mine", "one", "plan", "three", "two"])
      assert.equal(AgentRegistry.get("two").permissions.length, 1)
      rmSync(join(tmp.path, folder, "three.ts"))
      rmSync(join(tmp.path, folder, "one.md"))
      assert.deepEqual(await ids(), ["build", "mine", "plan", "two"])
      await Trust.remove(tmp.path)
      await ids()
      assert.deepEqual(AgentRegistry.get("two").permissions, [])
      rmSync(join(tmp.path, folder), { recursive: true })
      assert.deepEqual(await ids(), ["build", "mine", "plan"])
    },
    { files: agentFiles({ "one.md": says("first") }) },
  )
})

test("a trusted file that cannot be used lets no other agent of its name work, until it is mended", async () => {
  await inProject(
    async (tmp) => {
      await AgentRegistry.load()
      const broken = { name: "Agent.Invalid", message: /build\.md:2:1: permisions: .*"permissions"/ }
      assert.throws(() => AgentRegistry.get("build"), broken)
      await assert.rejects(AgentRegistry.getDefault(), broken)
      assert.deepEqual(
        AgentRegistry.list().map(({ id }) => id),
        ["plan"],
      )
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
  test(`what a trusted ${name} denied its agent stays denied when the file changes or goes, until that is reviewed`, async () => {
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

test("what a trusted agent had to ask for is still asked for when its file changes or goes, until that is reviewed", async () => {
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

test("a trusted agent whose file changed is used as that of an untrusted folder, and its code does not run", async () => {
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
