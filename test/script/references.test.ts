import assert from "node:assert/strict"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { z } from "zod"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { bootstrap } from "#engine/host/bootstrap.ts"
import * as Config from "#kernel/config/config.ts"
import * as Global from "#kernel/process/global.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { parseJsonc } from "#util/parse/jsonc.ts"
import { agentFields } from "../../script/references/agents.ts"
import { type Command, commands, type Option } from "../../script/references/cli.ts"
import { configFields } from "../../script/references/configuration.ts"
import { events, sessionFields } from "../../script/references/events.ts"
import { type Field, fieldsOf, schemaOf } from "../../script/references/fields.ts"
import { tools } from "../../script/references/tools.ts"
import { references } from "../../script/references.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

const docs = join(import.meta.dirname, "../../docs")

test("docs/{configuration,agents,tools,events,cli}.md are as the schemas say (node script/references.ts --write)", async () => {
  await using _ = await tmpdir()
  for (const { file, text, expected } of await references()) assert.equal(text, expected, file)
})

test("every configuration key, agent field, event and event field has a meaning", async () => {
  const all = await events()
  const fields = [
    ...named("configuration", configFields()),
    ...named("agent", agentFields()),
    ...named("session", sessionFields()),
    ...all.flatMap(({ type, fields }) => named(type, fields)),
  ]
  assert.ok(fields.length > 150)
  assert.deepEqual(
    fields.filter(({ meaning }) => !meaning).map(({ name }) => name),
    [],
  )
  assert.deepEqual(
    all.filter(({ when }) => !when).map(({ type }) => type),
    [],
  )
})

test("fieldsOf() gives a field without a description no meaning", () => {
  const fields = fieldsOf(schemaOf(z.object({ a: z.string(), b: z.string().describe("known") }), "input"))
  assert.deepEqual(
    fields.map(({ path, meaning }) => [path, meaning]),
    [
      ["a", ""],
      ["b", "Known."],
    ],
  )
})

test("every built-in tool has a manual for exactly its arguments", async () => {
  await using _ = await tmpdir()
  for (const { tool, manual, fields } of await tools()) {
    assert.ok(manual?.limits, tool.id)
    assert.deepEqual(Object.keys(manual.arguments).sort(), fields.map(({ path }) => path).sort(), tool.id)
  }
})

test("every command, option and positional has a meaning", () => {
  const unknown: string[] = []
  const visit = (command: Command) => {
    if (!command.describe) unknown.push(command.usage)
    for (const [name, option] of [...command.positionals, ...command.options] as [string, Option][])
      if (!option.describe) unknown.push(`${command.usage}: ${name}`)
    command.commands.forEach(visit)
  }
  const all = commands()
  assert.ok(all.length >= 14)
  all.forEach(visit)
  assert.deepEqual(unknown, [])
})

/** Keys that this version refuses with any value; test/edge/cli/every-setting.test.ts shows it. */
const refused = /^(agent\.rules|adapters\.acp\.port)\b/

test("every key that can be set is in an example of docs/configuration.md", () => {
  const examples = examplesIn("configuration.md", "jsonc")
  const written = new Set(examples.flatMap((text) => pathsOf(parseJsonc(text, "docs").value)))
  const code = examplesIn("configuration.md", "ts").join("\n")
  const missing = configFields()
    .map(({ path }) => path)
    .filter(
      (path) =>
        path !== "$schema" &&
        !refused.test(path) &&
        !isIn(path, written) &&
        !code.includes(path.split(".").at(-1)!),
    )
  assert.deepEqual(missing, [])
})

for (const [i, text] of examplesIn("configuration.md", "jsonc").entries())
  test(`docs/configuration.md, example ${i + 1} loads with every key`, async () => {
    await using tmp = await tmpdir()
    // Nothing but this machine is asked for the remote layer.
    const local = text.replace("https://example.com/vitamin", "http://127.0.0.1:9/vitamin")
    write(join(Global.config(), "vitamin.jsonc"), local)
    const config = await Config.load({ directory: tmp.path })
    assert.partialDeepStrictEqual(config, parseJsonc(local, "docs").value)
  })

for (const [i, text] of examplesIn("configuration.md", "ts").entries())
  test(`docs/configuration.md, TypeScript example ${i + 1} loads in a trusted folder`, async () => {
    await using tmp = await tmpdir()
    write(join(tmp.path, ".vitamin/config.ts"), text)
    await Trust.grant(tmp.path)
    assert.notDeepEqual(await Config.load({ directory: tmp.path }), {})
  })

for (const [language, ending] of [
  ["md", "md"],
  ["yaml", "yaml"],
  ["ts", "ts"],
] as const)
  test(`docs/agents.md, the .${ending} example is an agent`, async () => {
    await using tmp = await tmpdir()
    const [text] = examplesIn("agents.md", language)
    write(join(tmp.path, `.vitamin/agents/release.${ending}`), text!)
    await Trust.grant(tmp.path)
    const agent = await bootstrap(tmp.path, async () => {
      await AgentRegistry.load()
      return AgentRegistry.get("release")
    })
    assert.ok(agent.systemPrompt)
  })

function named(where: string, fields: Field[]): { name: string; meaning: string }[] {
  return fields.map(({ path, meaning }) => ({ name: `${where}: ${path}`, meaning }))
}

function examplesIn(document: string, language: string): string[] {
  const text = readFileSync(join(docs, document), "utf8")
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm"))].map(([, code]) => code!)
}

/** Paths as the tables write them, with the names that a person chose. */
function pathsOf(value: unknown, prefix = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, prefix.replace(/\.$/, "[].")))
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => [
    prefix + name,
    ...pathsOf(item, `${prefix}${name}.`),
  ])
}

function isIn(path: string, written: ReadonlySet<string>): boolean {
  const form = new RegExp(`^${path.split("<id>").map(RegExp.escape).join("[^.]+")}$`)
  return [...written].some((text) => form.test(text))
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
