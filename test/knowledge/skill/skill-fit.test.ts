// Whether the right skill is above the threshold and every other below it: 40 intents for one of the 14 skills of the
// fixture, 20 for none.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { createSkillDiscovery } from "#knowledge/skill/skill-discovery.ts"
import { createOverlap, piecesOf, skillClaims, takeFitting } from "#knowledge/skill/skill-fit.ts"

type Intents = { fit: { intent: string; skill: string }[]; none: string[] }

const fixture = (name: string) => fileURLToPath(new URL(`../../fixture/${name}`, import.meta.url))
const { fit, none }: Intents = JSON.parse(readFileSync(fixture("skill-intents.json"), "utf8"))

async function measure(hasVectors: boolean) {
  const discovery = createSkillDiscovery({
    skillsRoot: fixture("skills"),
    ...(hasVectors ? { embedder: createEmbedder() } : {}),
  })
  const best = async (intent: string) => takeFitting(await discovery.search(intent))[0]?.skill.name
  const counts = { right: 0, wrong: 0, byChance: 0 }
  for (const { intent, skill } of fit) {
    const name = await best(intent)
    if (name === skill) counts.right++
    else if (name !== undefined) counts.wrong++
  }
  for (const intent of none) if ((await best(intent)) !== undefined) counts.byChance++
  discovery.close()
  return counts
}

test("with vectors, the threshold finds nearly every fitting skill, and none for other requests", async () => {
  assert.deepEqual([fit.length, none.length], [40, 20])
  const { right, wrong, byChance } = await measure(true)
  assert.ok(right >= 37, `${right} of 40`)
  assert.ok(wrong <= 1, `${wrong} wrong`)
  assert.equal(byChance, 0)
})

test("without vectors, the threshold finds most fitting skills, and none for other requests", async () => {
  const { right, wrong, byChance } = await measure(false)
  assert.ok(right >= 26, `${right} of 40`)
  assert.equal(wrong, 0)
  assert.equal(byChance, 0)
})

test("piecesOf() gives the whole and its sentences, within bounds", () => {
  assert.deepEqual(piecesOf("merge the files"), ["merge the files"])
  const [whole, ...rest] = piecesOf("Hello there. Merge these PDFs!\nThanks a lot")
  assert.deepEqual(rest, ["Hello there.", "Merge these PDFs!", "Thanks a lot"])
  assert.match(whole!, /^Hello[\s\S]*lot$/)
  assert.ok(piecesOf("A sentence. ".repeat(10_000)).length <= 9)
})

test("createOverlap() counts rare words more, whatever their ending and script", () => {
  const overlap = createOverlap([
    { name: "one", description: "Reads tables from files" },
    { name: "two", description: "Reads 契約書を翻訳する files" },
  ])
  const share = (piece: string, name: string) => overlap(piece, name).share
  assert.ok(share("table", "one") > share("file", "one"))
  assert.ok(share("翻訳してください", "two") > share("翻訳してください", "one"))
  assert.equal(share("reading", "one") > 0, true)
  assert.equal(share("reading", "nobody"), 0)
  assert.equal(overlap("read the tables of all files", "one").shared, 3)
})

test("skillClaims() leaves out what a skill says that it is not for", () => {
  const said =
    "Makes slides. Do NOT use it for PDFs. Use it for decks, not for posters! Skip it when code is wanted. It never asks."
  assert.equal(skillClaims(said), "Makes slides. Use it for decks It never asks.")
})

test("createOverlap() detects a file whose extension the skill names", () => {
  const overlap = createOverlap([
    { name: "pdf", description: "Works with pages." },
    { name: "tables", description: "Opens .csv and .xlsx files. Not for .docx files." },
  ])
  assert.equal(overlap("sum up reports/a.pdf", "pdf").isForFile, true)
  assert.equal(overlap("sum up a.csv", "tables").isForFile, true)
  assert.equal(overlap("sum up a.docx", "tables").isForFile, false)
  assert.equal(overlap("sum up the pdf", "pdf").isForFile, false)
})
