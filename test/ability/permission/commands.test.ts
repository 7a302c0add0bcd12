// Two corpora of commands, each with its expected decision. The author of commands.jsonc had not seen the code of the rules,
// the author of commands-attacks.jsonc had.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import * as Permission from "#ability/permission/permission.ts"
import { parseJsonc } from "#util/parse/jsonc.ts"

type Entry = { command: string; rules: string | Permission.Rule[]; expect: Permission.Action; why: string }
type Corpus = { ruleSets: Record<string, Permission.Rule[]>; entries: Entry[] }

const plain = readCorpus("commands.jsonc")
const attacks = readCorpus("commands-attacks.jsonc")

for (const clause of [1, 2, 3, 4, 5])
  test(`Permission.evaluateCommand() agrees with clause ${clause} for every command of the corpus`, () => {
    const own = plain.entries.filter(({ why }) => why.startsWith(`clause ${clause}`))
    assert.deepEqual(wrongOf({ ...plain, entries: own }), [])
    assert.ok(own.length > 30)
  })

test("Permission.evaluateCommand() allows no attack of the corpus, and allows everyday commands", () => {
  assert.deepEqual(wrongOf(attacks), [])
  assert.ok(attacks.entries.length > 700)
})

const deep: [what: string, command: string][] = [
  ["substitutions", `ls ${"$(".repeat(3_000)}ls${")".repeat(3_000)}`],
  ["subshells", `${"(".repeat(100_000)}ls${")".repeat(100_000)}`],
  ["groups", `${"{ ".repeat(50_000)}ls`],
  ["quoted substitutions", '"$('.repeat(3_000)],
  ["calculations", `ls ${"$((".repeat(3_000)}`],
  ["parameters", `ls ${"${a:-".repeat(3_000)}`],
  ["conditions", "if ls; then ".repeat(20_000)],
  ["cases", "case x in a) ".repeat(20_000)],
  ["functions", "f() { ".repeat(20_000)],
  ["tests", "[[ ( ".repeat(20_000)],
]
for (const [what, command] of deep)
  test(`Permission.evaluateCommand() asks for deeply nested ${what}`, () => {
    const rules: Permission.Rule[] = [{ permission: "bash.execute", pattern: "*", action: "allow" }]
    assert.equal(Permission.evaluateCommand(command, rules), "ask")
  })

function readCorpus(name: string): Corpus {
  return parseJsonc(readFileSync(new URL(name, import.meta.url)), name).value as Corpus
}

function wrongOf({ ruleSets, entries }: Corpus): string[] {
  return entries.flatMap(({ command, rules, expect, why }) => {
    const got = Permission.evaluateCommand(command, typeof rules === "string" ? ruleSets[rules]! : rules)
    return got === expect ? [] : [`${got}, not ${expect}: ${JSON.stringify(command)} (${why})`]
  })
}

test("Permission.evaluateCommand() handles 60 KB of any text", () => {
  const rules: Permission.Rule[] = [{ permission: "bash.execute", pattern: "*", action: "allow" }]
  const variables = Array.from({ length: 4_000 }, (_, i) => `a${i}=$a${i - 1}`).join(";")
  const lines = [
    "{,",
    "[",
    "*.",
    ".*",
    "?",
    "$a",
    "\\",
    "{[*?",
    ".v[i]",
    ".vit* ",
    "'",
    '"',
    "<<E\n",
    "a=(",
    "\\\n",
  ].map((piece) => `rm ${piece.repeat(60_000 / piece.length)}`)
  for (const line of [...lines, `${variables}; rm $a3999`, `awk '${"(a)/".repeat(15_000)}'`])
    assert.match(Permission.evaluateCommand(line, rules), /^(allow|ask)$/)
})
