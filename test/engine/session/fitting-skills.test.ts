// Which skills a prompt gets by its text alone. A shared word is not enough. If the configured embedder cannot be used,
// the embedded one finds skills.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { call, text } from "../../fixture/fake-llm.ts"
import type { Tmp } from "../../fixture/tmpdir.ts"
import { inWorld, resultsOf, type World } from "./harness.ts"
import { next } from "./needy.ts"

const skills = {
  "release-notes":
    "Writes release notes and the changelog from git history, grouped by kind, with breaking changes. Use for a new version.",
  "commit-messages":
    "Writes commit messages in the conventional commits format from what is staged. Use when something is to be committed.",
  "code-review":
    "Reviews a diff or pull request for bugs, missing tests, naming and design, and writes comments sorted by severity.",
  "invoice-organizer":
    "Sorts invoices and receipts for the tax office: reads vendor, date and amount, renames the files in one way.",
  docx: "Create, read and edit Word documents (.docx), with headings, tables of contents, tracked changes and comments.",
  pdf: "Work with PDF files: read their text and tables, fill in forms, merge, split, rotate and encrypt them.",
  xlsx: "Spreadsheets: open, edit, clean and create .xlsx and .csv files with formulas, formatting and charts.",
}

function writeSkills(tmp: Tmp): void {
  for (const [name, description] of Object.entries(skills))
    tmp.write(
      `.vitamin/skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: "${description}"\n---\nBODY OF ${name}.\n`,
    )
}

/** The skills that each request has in addition to the one before it. */
function toldOf({ llm }: World): string[][] {
  const sent = llm.requests.map(({ body }) => JSON.stringify(body.messages).match(/BODY OF [\w-]+/g) ?? [])
  return sent.map((names, i) => names.slice(sent[i - 1]?.length ?? 0).map((name) => name.slice(8)))
}

test("prompts that only share a word with a skill get no skill", async () => {
  const prompts = [
    "summarize the meeting notes",
    "release the lock when the function returns",
    "what is the latest version of node?",
    "show me the last five commits",
    "make a list of all TODO comments",
    "which files did you change?",
  ]
  await inWorld(
    prompts.map(() => text("ok")),
    async (world) => {
      writeSkills(world.tmp)
      for (const prompt of prompts) await world.ask(prompt)
      assert.deepEqual(
        toldOf(world),
        prompts.map(() => []),
      )
    },
  )
})

test("a prompt that fits a skill gets it, and one that needs two skills gets both", async () => {
  const prompts = {
    "write the release notes for 3.2": ["release-notes"],
    "commit this": ["commit-messages"],
    "review my pull request": ["code-review"],
    "fill in the form application.pdf and add a table of contents to thesis.docx": ["docx", "pdf"],
  }
  await inWorld(
    Object.keys(prompts).map(() => text("ok")),
    async (world) => {
      writeSkills(world.tmp)
      for (const prompt of Object.keys(prompts)) await world.ask(prompt)
      assert.deepEqual(
        toldOf(world).map((names) => names.sort()),
        Object.values(prompts),
      )
    },
  )
})

test("if the configured embedder cannot be used, the embedded model finds skills", async () => {
  await inWorld(
    [text("ok")],
    async (world) => {
      writeSkills(world.tmp)
      // The prompt has no word of the skill.
      await world.ask("put it into an Excel workbook")
      assert.deepEqual(toldOf(world), [["xlsx"]])
    },
    { config: { embedder: { gguf: "there/is/no/such.gguf" } } },
  )
})

test("a script that the model adds to a skill runs only if a person allows that command", async () => {
  const command = "bash skills/new/scripts/run.sh"
  await inWorld(
    [call("bash", { command: "cp -r pack skills/new" }), call("bash", { command }), text("Done.")],
    async ({ tmp, ask, messages }) => {
      tmp.write("pack/scripts/run.sh", "echo ran > ran.txt\n")
      tmp.write("skills/a/SKILL.md", "---\nname: a\ndescription: Does a.\n---\nDo it.\n")
      await Trust.grant(tmp.path)
      const answer = ask("go", { rules: [Permission.parseRule("bash.execute:*")] })
      const [request] = await next()
      assert.equal(request!.protected, true)
      assert.deepEqual(
        request!.needs.map(({ target }) => target),
        [command],
      )
      await Permission.reply(request!.id, "reject")
      await answer
      assert.equal(resultsOf(await messages())[0]!.status, "success")
      assert.throws(() => readFileSync(join(tmp.path, "ran.txt")), { code: "ENOENT" })
    },
    { git: true },
  )
})
