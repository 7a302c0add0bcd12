// Skills with long, overlapping descriptions, like public ones, through the built command: which skills a prompt gets.
import assert from "node:assert/strict"
import { test } from "node:test"
import { readLines } from "../../../../bench/retrieval-sets.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

type Prompt = { query: string; gold: string[] }
type Described = { name: string; description: string; headings: string[] }

function writeSkills(tmp: Tmp): void {
  for (const { name, description, headings } of readLines<Described>("public-skills.skills")) {
    const body = [`BODY OF ${name}.`, ...headings.map((heading) => `## ${heading}`)].join("\n\n")
    const front = `name: ${name}\ndescription: ${JSON.stringify(description)}`
    tmp.write(`.claude/skills/${name}/SKILL.md`, `---\n${front}\n---\n${body}\n`)
  }
}

async function toldFor(tmp: Tmp, prompt: string): Promise<string[]> {
  await using llm = await fakeLlm([text("done")])
  const { code, err } = await vitamin(tmp, ["run", prompt], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  return (llm.requests[0]!.raw.match(/BODY OF [\w-]+/g) ?? []).map((found) => found.slice(8))
}

test("a prompt about tables of a PDF for a spreadsheet gets the skills pdf and xlsx, and no skill that excludes PDF files or spreadsheets", async () => {
  await using tmp = await tmpdir({ git: true })
  writeSkills(tmp)
  const told = await toldFor(tmp, "extract the tables of report.pdf into a spreadsheet")
  assert.deepEqual(told.toSorted(), ["pdf", "xlsx"])
})

test("of 17 skills, prompts that were not used for tuning get the right ones, and coding prompts get none", async () => {
  await using tmp = await tmpdir({ git: true })
  writeSkills(tmp)
  const judging = readLines<Prompt>("public-skills.prompts").filter((_, at) => at % 2 === 1)
  const wanting = judging.filter(({ gold }) => gold.length).slice(0, 12)
  let right = 0
  for (const { query, gold } of wanting) {
    const told = await toldFor(tmp, query)
    for (const name of told) assert.ok(gold.includes(name), `${name} for: ${query}`)
    if (told.length) right++
  }
  assert.ok(right >= 9, `${right} of ${wanting.length} prompts brought a skill`)
  for (const { query } of judging.filter(({ gold }) => !gold.length).slice(0, 5))
    assert.deepEqual(await toldFor(tmp, query), [], query)
})
