import assert from "node:assert/strict"
import { test } from "node:test"
import { askedSkills } from "#ability/skill/asked-skills.ts"

const names = ["release-notes", "pdf", "api-design"]

for (const [words, expected] of [
  ["/release-notes for 2.0", ["release-notes"]],
  ["  /pdf", ["pdf"]],
  ["/PDF merge these", ["pdf"]],
  ["/pdf/x.md is broken", []],
  ["look at /pdf", []],
  ["/etc/hosts", []],
  ["/nothing here", []],
  ["Use the skill pdf and then the api-design skill, please", ["pdf"]],
  ["use the api-design skill for this", ["api-design"]],
  ['do it with the "release-notes" skill', ["release-notes"]],
  ["Using skill `pdf`: merge", ["pdf"]],
  ["/pdf with the skill api-design", ["pdf", "api-design"]],
  ["use the skill that fits", []],
  ["the pdf skill is broken, fix it", []],
] as const)
  test(`askedSkills(${JSON.stringify(words)}) is ${expected.join(", ") || "nothing"}`, () => {
    assert.deepEqual(askedSkills(words, names), expected)
  })

test("askedSkills() handles long words in time", { timeout: 20_000 }, () => {
  for (const piece of ["use ", "use the ", "skill ", "use the skill skill", " ".repeat(50)])
    assert.deepEqual(askedSkills(piece.repeat(50_000), names), [])
})
