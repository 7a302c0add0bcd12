// The documents that a project's instructions link to: sent if they fit the prompt, within a budget.
import assert from "node:assert/strict"
import { existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { findRules, mayHaveRules } from "#engine/context/find-rules.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { inWorld, type World } from "../session/harness.ts"
import { documents, fitting, others } from "../session/linked-documents.ts"

const inProject = (fn: (world: World) => Promise<unknown>, config?: object) =>
  inWorld([], fn, config ? { config } : {})

function writeProject(tmp: Tmp): void {
  const links = Object.entries(documents).map(([path, { link }]) => `- [${link}](${path})`)
  tmp.write("AGENTS.md", `# Rules\n\nUse tabs.\n\n${links.join("\n")}\n`)
  for (const [path, { text }] of Object.entries(documents)) tmp.write(path, text)
}

const namesFor = async (intent: string, budget = 2_000) =>
  (await findRules(intent, { budget })).map(({ name }) => name)

test("findRules() returns the linked document that fits the prompt, whole if it is short", async () => {
  await inProject(async ({ tmp }) => {
    writeProject(tmp)
    assert.deepEqual(await findRules("How do we roll back a bad release?", { budget: 2_000 }), [
      { kind: "rule", name: "docs/deploy.md", text: documents["docs/deploy.md"]!.text.trim() },
    ])
  })
})

test("findRules() finds the right document for most prompts, and none for unrelated ones", async (t) => {
  await inProject(async ({ tmp }) => {
    writeProject(tmp)
    const found: string[] = []
    for (const [intent, path] of fitting) if ((await namesFor(intent)).includes(path)) found.push(intent)
    const wrong: string[] = []
    for (const intent of others) if ((await namesFor(intent)).length) wrong.push(intent)
    t.diagnostic(
      `${found.length} of ${fitting.length} found; ${wrong.length} of ${others.length} by chance: ${wrong}`,
    )
    assert.ok(
      found.length >= 0.7 * fitting.length,
      `missed: ${fitting
        .map(([intent]) => intent)
        .filter((intent) => !found.includes(intent))
        .join("; ")}`,
    )
    assert.ok(wrong.length <= 0.1 * others.length, wrong.join("; "))
  })
})

test("the matching passages of a long document are sent, with the path of the whole document", async () => {
  await inProject(async ({ tmp }) => {
    const filler = (word: string) => `${word} is described here at length, as it should be. `.repeat(25)
    const sections = ["Harbour", "Kitchen", "Rollback of a release", "Garden"].map(
      (title) => `## ${title}\n\n${filler(title)}`,
    )
    tmp.write("AGENTS.md", "[How we deploy](docs/deploy.md)")
    tmp.write("docs/deploy.md", `# Deploying\n\n${sections.join("\n\n")}\n`)
    const [note] = await findRules("deploy: rollback of the last release", { budget: 1_000 })
    assert.match(note!.name, /^docs\/deploy\.md:\d/)
    assert.match(note!.text, /## Rollback of a release/)
    assert.match(note!.text, /\[parts of \d+ lines: read docs\/deploy\.md for the rest\]$/)
    assert.ok(estimateTokens(note!.text) <= 660, `${estimateTokens(note!.text)}`)
    const [small] = await findRules("deploy: rollback of the last release", { budget: 200 })
    assert.ok(estimateTokens(small!.text) <= 200, `${estimateTokens(small!.text)}`)
    assert.deepEqual(await findRules("deploy: rollback of the last release", { budget: 20 }), [])
  })
})

test("findRules() does not return a document that the model still sees", async () => {
  await inProject(async ({ tmp }) => {
    writeProject(tmp)
    const intent = "How do we roll back a bad release?"
    const known = new Set(["docs/deploy.md"])
    for (const budget of [2_000, 100]) assert.deepEqual(await findRules(intent, { budget, known }), [])
    assert.match((await findRules(intent, { budget: 100 }))[0]!.name, /^docs\/deploy\.md:\d/, "a part of it")
  })
})

test("findRules() returns no document that the rules deny", async () => {
  await inProject(async ({ tmp }) => {
    writeProject(tmp)
    const intent = "How do we roll back a bad release?"
    const mayRead = (path: string) => path !== join(tmp.path, "docs/deploy.md")
    assert.deepEqual(await findRules(intent, { budget: 2_000, mayRead }), [])
    // A link to the denied file is not sent either.
    tmp.write("AGENTS.md", "[How to deploy and release](docs/other.md)")
    symlinkSync("deploy.md", join(tmp.path, "docs/other.md"))
    assert.deepEqual(await findRules(intent, { budget: 2_000, mayRead }), [])
    assert.deepEqual(await namesFor(intent), ["docs/other.md"])
  })
})

test("findRules() opens nothing and makes no database if the instructions link to no document", async () => {
  await inProject(async ({ tmp }) => {
    assert.equal(await mayHaveRules(), false)
    for (const text of ["No link.", "[x](https://example.org/x.md)", "[x](src/index.ts)", "`docs/x.md`"]) {
      tmp.write("AGENTS.md", text)
      assert.equal(await mayHaveRules(), false, text)
      assert.deepEqual(await namesFor("index"), [])
    }
    assert.equal(existsSync(join(Global.cache(), "rules")), false)
    tmp.write("AGENTS.md", "See [x](docs/x.md#part).")
    assert.equal(await mayHaveRules(), true)
  })
})

test("findRules() sees changed documents and another instruction file at the next prompt", async () => {
  await inProject(async ({ tmp }) => {
    writeProject(tmp)
    assert.deepEqual(await namesFor("deploy to production"), ["docs/deploy.md"])
    tmp.write("docs/deploy.md", "# Deploying to production\n\nAsk the harbour master.\n")
    const [note] = await findRules("deploy to production", { budget: 2_000 })
    assert.match(note!.text, /harbour master/)
    rmSync(join(tmp.path, "docs/deploy.md"))
    assert.deepEqual(await namesFor("deploy to production"), [])
    rmSync(join(tmp.path, "AGENTS.md"))
    tmp.write("docs/ship.md", "How a release is shipped to production.")
    tmp.write("CLAUDE.md", "[Deploying to production](docs/ship.md)")
    assert.deepEqual(await namesFor("deploy to production"), ["docs/ship.md"])
  })
})

test("findRules() follows the links of the configured instruction file", async () => {
  await inProject(
    async ({ tmp }) => {
      tmp.write("AGENTS.md", "[Deploying to production](docs/wrong.md)")
      tmp.write("docs/wrong.md", "Deploy to production by hand.")
      tmp.write("docs/rules.md", "[Deploying to production](right.md)")
      tmp.write("docs/right.md", "Deploy to production by the pipeline.")
      assert.deepEqual(await namesFor("deploy to production"), ["docs/right.md"])
    },
    { rules: { root: "docs/rules.md" } },
  )
})

test("a broken rules database does not fail a prompt", async () => {
  await inProject(async ({ tmp }) => {
    writeProject(tmp)
    assert.deepEqual(await namesFor("deploy to production"), ["docs/deploy.md"])
    await Instance.dispose()
    await Instance.provide({
      directory: tmp.path,
      async fn() {
        const folder = join(Global.cache(), "rules")
        for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "no database")
        assert.deepEqual(await namesFor("deploy to production"), ["docs/deploy.md"])
      },
    })
  })
})
