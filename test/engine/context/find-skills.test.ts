// Which skills are sent with a prompt, and how.
import assert from "node:assert/strict"
import { cpSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { parse as parseAgent } from "#ability/agent/agent.ts"
import * as Mcp from "#ability/mcp/mcp.ts"
import { findSkills, type Options } from "#engine/context/find-skills.ts"
import { listName } from "#engine/context/skill-notes.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const fixture = fileURLToPath(new URL("../../fixture/skills", import.meta.url))
const agent = parseAgent({ id: "build" }, { source: "test" })
type Find = (intent: string, options?: Partial<Options>) => ReturnType<typeof findSkills>

async function inSkills(fn: (tmp: Tmp, find: Find) => Promise<void>, isEmpty = false): Promise<void> {
  await using tmp = await tmpdir({ git: true })
  if (!isEmpty) cpSync(fixture, join(tmp.path, ".vitamin/skills"), { recursive: true })
  Log.setFile(join(tmp.path, "../log"))
  try {
    await Instance.provide({
      directory: tmp.path,
      fn: () => fn(tmp, (intent, options) => findSkills(intent, { agent, budget: 8_000, ...options })),
    })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
    Log.setFile(undefined)
  }
}

const namesOf = (notes: Awaited<ReturnType<typeof findSkills>>) => notes.map(({ name }) => name)
const write = (tmp: Tmp, name: string, front = "", body = "Do it.") =>
  tmp.write(
    `.vitamin/skills/${name}/SKILL.md`,
    `---\nname: ${name}\ndescription: Does ${name}.\n${front}---\n${body}\n`,
  )

test("findSkills() returns the instructions of the matching skill, with paths for tools", () =>
  inSkills(async (tmp, find) => {
    const notes = await find("write the release notes for 2.4.0")
    assert.deepEqual(namesOf(notes), [listName, "release-notes"])
    const { text, kind } = notes[1]!
    assert.equal(kind, "skill")
    assert.match(text, /^# Release notes\n\n1\. Collect what changed/)
    assert.match(text, /Relative paths above start at \.vitamin\/skills\/release-notes\./)
    assert.match(
      text,
      /- breaking changes and how to move on: \.vitamin\/skills\/release-notes\/references\/breaking/,
    )
    assert.match(
      text,
      /\n- node \.\/\.vitamin\/skills\/release-notes\/scripts\/collect\.mjs: Prints the commits/,
    )
    assert.match(text, /- \.vitamin\/skills\/release-notes\/assets\/section\.md\.txt/)
    assert.doesNotMatch(text, /What is worth a line\n/, "a reference is only named")
    for (const [, path] of text.matchAll(/(\.vitamin\/skills\/[\w./-]+\.\w+)/g))
      readFileSync(join(tmp.path, path!))
  }))

test("findSkills() lists each skill in a line, once, if none matches", () =>
  inSkills(async (_, find) => {
    const [list, ...others] = await find("why is the sky blue?")
    assert.deepEqual([list!.name, others], [listName, []])
    const lines = list!.text.split("\n").slice(1)
    assert.equal(lines.length, 14)
    assert.match(list!.text, /\n- translation: Translates .* \(\.vitamin\/skills\/translation\/SKILL\.md\)/)
    assert.ok(
      lines.every((line) => estimateTokens(line) <= 150),
      "about a hundred tokens each",
    )
    assert.deepEqual(await find("why is the sky blue?", { known: new Set([listName]) }), [])
    const again = await find("something else entirely")
    assert.equal(again[0]!.text, list!.text, "the same words, whatever is asked")
  }))

test("findSkills() lists the best of very many skills within the budget, and says so", () =>
  inSkills(async (tmp, find) => {
    for (let i = 0; i < 120; i++) write(tmp, `filler-${i}`, `metadata: { x: "${"word ".repeat(40)}" }\n`)
    const [list] = await find("update all outdated npm packages")
    assert.ok(estimateTokens(list!.text) < 2_100)
    assert.match(list!.text, /- dependency-updates: /)
    assert.match(list!.text, /\nand \d+ more, which fit this less\.$/)
  }))

test("findSkills() returns the skill that is called by name, whatever the prompt says", () =>
  inSkills(async (_, find) => {
    assert.deepEqual(namesOf(await find("/brand-voice why is the sky blue?")), [listName, "brand-voice"])
    assert.deepEqual(namesOf(await find("Sort these lines. Use the skill pdf-forms.")), [
      listName,
      "pdf-forms",
    ])
    assert.deepEqual(namesOf(await find("/nothing why is the sky blue?")), [listName])
  }))

test("findSkills() gives an agent the skills that it names, and says which do not exist", () =>
  inSkills(async (tmp, find) => {
    const own = parseAgent({ id: "writer", skills: ["brand-voice", "ghost"] }, { source: "test" })
    assert.deepEqual(namesOf(await find("hello", { agent: own })), [listName, "brand-voice"])
    assert.match(
      readFileSync(join(tmp.path, "../log"), "utf8"),
      /agent writer names the skill ghost, which does not/,
    )
  }))

test("findSkills() uses a skill for people only when called by name, and never lists it", () =>
  inSkills(async (tmp, find) => {
    write(tmp, "deploy-production", "disable-model-invocation: true\n")
    assert.deepEqual(await find("deploy to production, does deploy-production do it"), [])
    assert.deepEqual(namesOf(await find("/deploy-production now")), ["deploy-production"])
  }, true))

test("findSkills() does not let a task call a skill for people only", () =>
  inSkills(async (tmp, find) => {
    write(tmp, "launch", "disable-model-invocation: true\n")
    assert.deepEqual(namesOf(await find("/launch")).slice(-1), ["launch"])
    assert.ok(!namesOf(await find("/launch", { isTask: true })).includes("launch"))
  }))

test("findSkills() leaves out unreadable skills; for the person's own only a denial counts", () =>
  inSkills(async (tmp, find) => {
    write(tmp, "launch")
    const own = "---\nname: own\ndescription: Mine.\n---\nDo it.\n"
    const file = tmp.write("../home/.claude/skills/own/SKILL.md", own)
    symlinkSync(join(tmp.path, "secret.md"), join(tmp.path, ".vitamin/skills/hidden.md"))
    tmp.write("secret.md", "---\nname: hidden\ndescription: Hides.\n---\nHidden.\n")
    const reading = (path: string) => {
      if (/release-notes|secret/.test(path)) return "deny"
      return path === file || path.includes("launch") ? "ask" : "allow"
    }
    for (const words of ["/release-notes", "/launch", "/hidden", "write the release notes for 2.4.0"]) {
      const notes = await find(words, { reading })
      assert.deepEqual(namesOf(notes), [listName], words)
      assert.doesNotMatch(notes[0]!.text, /release-notes|launch|hidden/)
    }
    assert.deepEqual(namesOf(await find("/own", { reading })).slice(-1), ["own"])
    assert.ok(!namesOf(await find("/own", { reading: () => "deny" })).includes("own"))
  }))

test("findSkills() keeps to its budget, and names the file with the rest", () =>
  inSkills(async (tmp, find) => {
    write(tmp, "long", "", "A line of many words in a row.\n".repeat(2_000))
    const [note] = await find("/long", { budget: 1_000 })
    assert.ok(estimateTokens(note!.text) <= 1_000, String(estimateTokens(note!.text)))
    assert.match(note!.text, /\n\[cut here: read \.vitamin\/skills\/long\/SKILL\.md for the rest\]/)
    assert.deepEqual(await find("/long", { budget: 100 }), [])
  }, true))

test("findSkills() returns the same text for a skill whatever other skills match, and names skills beyond the budget once", () =>
  inSkills(async (tmp, find) => {
    for (const name of ["one", "two"]) write(tmp, name, "", `The rules of ${name}. `.repeat(600))
    const known = new Set([listName])
    const [first, second] = await find("use the skill one and use the skill two", { known, budget: 4_000 })
    assert.match(first!.text, /^The rules of one\./)
    assert.match(second!.text, /^Not shown, to save tokens\. Read \.vitamin\/skills\/two\/SKILL\.md first/)
    const [whole, ...others] = await find("use the skill two and use the skill one", {
      known: new Set([listName, "one", "two"]),
      budget: 4_000,
    })
    assert.match(whole!.text, /^The rules of two\./)
    assert.deepEqual(others, [], "the model still sees the other")
    const again = await find("/one", { known, budget: 4_000 })
    assert.equal(again[0]!.text, first!.text)
  }))

test("findSkills() notices added, changed and removed skills within a session", () =>
  inSkills(async (tmp, find) => {
    assert.deepEqual(await find("bake a cake"), [])
    write(tmp, "cakes", "", "First form.")
    assert.match((await find("/cakes"))[0]!.text, /First form/)
    write(tmp, "cakes", "", "Second form, longer.")
    assert.match((await find("/cakes"))[0]!.text, /Second form/)
  }, true))

test("findSkills() starts a skill's MCP servers when it is used, in a trusted folder only", () =>
  inSkills(async (tmp, find) => {
    write(tmp, "tiny", `mcp:\n  tiny: { command: ${JSON.stringify(process.execPath)}, args: [server.js] }\n`)
    write(tmp, "odd", "mcp: { servers: 3 }\n")
    const [, note] = await find("/tiny")
    assert.match(note!.text, /Its MCP servers are not started: the folder is not trusted/)
    assert.deepEqual(await Mcp.list(), [])
    await Trust.grant(tmp.path)
    await find("hello")
    assert.deepEqual(await Mcp.list(), [], "not before it is used")
    await find("/odd and /tiny")
    await find("/tiny")
    const [server, ...more] = await Mcp.list()
    assert.deepEqual(
      [server!.id, server!.source, server!.transport, more],
      ["tiny", "skill tiny", "stdio", []],
    )
    await Trust.remove(tmp.path)
    assert.equal((await Mcp.list())[0]!.state, "unusable", "trust taken back counts at once")
    assert.match(readFileSync(join(tmp.path, "../log"), "utf8"), /MCP servers of the skill odd are not used/)
  }, true))

test("findSkills() adds a skill's document if the prompt is about it and it may be read", async () => {
  await inSkills(async (tmp, find) => {
    const told = async (intent: string, options: Partial<Options> = {}) =>
      namesOf(await find(intent, { known: new Set([listName]), ...options }))
    assert.deepEqual(await told("/release-notes for 2.0, with its breaking changes"), [
      "release-notes",
      "release-notes, references/breaking-changes.md",
    ])
    assert.deepEqual(await told("/release-notes for 1.2"), ["release-notes"])
    const [, document] = await find("/release-notes and which changes are worth a line", {
      known: new Set([listName]),
    })
    assert.match(document!.text, /Refactors, tests and tools are not/)
    const reading = (path: string) => (path.endsWith("breaking-changes.md") ? "deny" : "allow")
    assert.deepEqual(await told("/release-notes with its breaking changes", { reading }), ["release-notes"])
    const file = ".vitamin/skills/release-notes/references/breaking-changes.md"
    tmp.write(file, `# Breaking changes\n\n${"Say what stops working.\n".repeat(2_000)}`)
    const [, long] = await find("/release-notes with its breaking changes", { known: new Set([listName]) })
    assert.ok(estimateTokens(long!.text) <= 2_100)
    assert.match(long!.text, /\[cut here: read \.vitamin\/skills\/release-notes\/references\/breaking/)
  })
})
