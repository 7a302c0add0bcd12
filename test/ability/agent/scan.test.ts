// Agents in files: YAML, Markdown and TypeScript, good and bad.
import assert from "node:assert/strict"
import { basename, join } from "node:path"
import { test } from "node:test"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { defineAgent } from "#ability/agent/define-agent.ts"
import { Instance } from "#kernel/instance.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { agentFiles, code, folder, markdown, trusting, yaml } from "./agent-files.ts"
import { inProject } from "./harness.ts"

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
  ["plain.md", "# A heading\n", /must begin with front matter/],
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
  test(`AgentRegistry.scanAndRegister() reports what is wrong with ${name}, and uses the other files`, async () => {
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
            /"same" is already used in .*a\.yaml/.test(message),
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

test("AgentRegistry.scanAndRegister() limits the number and bytes of files of a folder", async () => {
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
        assert.match(problems[0]!.message, /later files are ignored/)
      },
      { files: agentFiles(files) },
    )
})

test("AgentRegistry.scanAndRegister() throws for a missing folder; load() does not", async () => {
  await inProject(async () => {
    await AgentRegistry.load()
    await assert.rejects(AgentRegistry.scanAndRegister("nowhere"), { name: "Agent.FolderNotFound" })
  })
})

test("every Instance that scans a TypeScript file gets its agents, and changed ones again", async () => {
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
