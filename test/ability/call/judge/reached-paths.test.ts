// The paths that a thousand words of a command may name from ten folders: the same result as a check of every combination, with
// far fewer file calls.
import assert from "node:assert/strict"
import { symlinkSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { test } from "node:test"
import { reachedPaths } from "#ability/call/judge/reached-paths.ts"
import * as Permission from "#ability/permission/permission.ts"
import { realOf } from "#util/file/path-info.ts"
import { readPath } from "#util/wildcard.ts"
import { createRandom } from "../../../fixture/random.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const names = "a b c d scripts skills hooks up out here A .git .vitamin vitamin config gone deeper".split(" ")
const fillers = Array.from({ length: 12 }, (_, i) => `f${i}`)
const protectedNames = () => new Set(Permission.ownNames().map((name) => name.toLowerCase()))
const counts = (path: string) => Permission.isOwnConfiguration(readPath(path))

/** Every word from every folder, each looked for. */
function plainly(folders: string[], words: string[]): boolean {
  return folders.some((folder) =>
    words.some((word) => {
      const target = resolve(folder, word)
      return counts(target) || counts(realOf(target) ?? realOf(dirname(target)) ?? target)
    }),
  )
}

test("reachedPaths() yields every protected path: existing, missing, linked, or above the start", async () => {
  await using tmp = await tmpdir()
  for (const file of [
    "a/b/c",
    "a/d",
    "b/scripts/a",
    "skills/a/scripts/b",
    "c/skills/b/c",
    ".git/hooks/a",
    "d",
  ])
    tmp.write(file, "x")
  for (const [name, to] of [
    ["hooks", ".git/hooks"],
    ["a/up", ".."],
    ["b/here", "../skills/a"],
    ["c/out", "nowhere/at/all"],
    ["a/A", "../.git"],
  ] as const)
    symlinkSync(to, join(tmp.path, name))
  const below = createRandom(7)
  const random = () => below(1_000) / 1_000
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const some = (most: number, make: () => string) =>
    Array.from({ length: 1 + Math.floor(random() * most) }, make)
  const path = () => {
    const inside = some(3, () => (random() < 0.15 ? pick(["..", ".", ""]) : pick(names))).join("/")
    return random() < 0.1 ? join(tmp.path, inside) : inside
  }
  const found = { yes: 0, no: 0 }
  for (let round = 0; round < 3_000; round++) {
    const folders = [tmp.path, ...some(2, () => resolve(tmp.path, path()))]
    // With many words folders are read, with few they are not; a rare one is of ours.
    const words = [...some(4, path), ...(random() < 0.7 ? fillers : [])].filter(
      (word) => random() < 0.2 || !/\.git|\.vitamin|scripts|hooks/.test(word),
    )
    const reached = [...reachedPaths({ folders, words, protectedNames: protectedNames() })]
    const expected = plainly(folders, words)
    assert.equal(
      reached.some(({ target, real }) => counts(target) || counts(real)),
      expected,
      JSON.stringify({ folders, words }),
    )
    found[expected ? "yes" : "no"]++
  }
  assert.ok(found.yes > 300 && found.no > 300, JSON.stringify(found))
})

test("reachedPaths() looks up only a few of a thousand words in ten folders", async () => {
  await using tmp = await tmpdir()
  const folders = Array.from({ length: 10 }, (_, i) => dirname(tmp.write(`e${i}/x`, "x")))
  for (const make of [
    (i: number) => `word${i}`,
    (i: number) => `../word${i}`,
    (i: number) => `../e${i % 10}/word${i}`,
    (i: number) => `../scripts${i}/word`,
    (i: number) => `/usr/word${i}`,
  ]) {
    const words = Array.from({ length: 1_000 }, (_, i) => make(i))
    const reached = [...reachedPaths({ folders, words, protectedNames: protectedNames() })]
    assert.ok(reached.length > 0 && reached.length < 120, `${make(0)}: ${reached.length}`)
  }
})
