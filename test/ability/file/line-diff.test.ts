// The diff that people see: it is minimal, gives the new text when it is applied, and is bounded.
import assert from "node:assert/strict"
import { test } from "node:test"
import { lineDiff } from "#ability/file/line-diff.ts"

/** What `patch` would do, for diffs that are not cut. */
function apply(before: string, diff: string): string {
  const lines = before.split(/(?<=\n)/).filter(Boolean)
  const out: string[] = []
  let at = 0
  for (const hunk of diff.split(/^(?=@@ )/m).filter(Boolean)) {
    const [head, ...body] = hunk.split("\n").slice(0, -1)
    const [, start, count] = /^@@ -(\d+),(\d+) \+\d+,\d+ @@$/.exec(head!)!
    while (at < Number(start) - 1) out.push(lines[at++]!)
    let taken = 0
    for (const [i, line] of body.entries()) {
      if (line.startsWith("\\")) continue
      const text = line.slice(1) + (body[i + 1]?.startsWith("\\") ? "" : "\n")
      if (line[0] !== "+") {
        assert.equal(lines[at++], text)
        taken++
      }
      if (line[0] !== "-") out.push(text)
    }
    assert.equal(taken, Number(count))
  }
  return out.concat(lines.slice(at)).join("")
}

test("lineDiff() of random texts turns one into the other, with the right counts", () => {
  let state = 5
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (let i = 0; i < 500; i++) {
    const make = () =>
      Array.from({ length: random(30) }, () => "abcd"[random(4)]).join("\n") + (random(2) ? "\n" : "")
    const before = make()
    const after = random(3) ? before.replace(/\w/g, (char) => (random(8) ? char : `${char}\nz`)) : make()
    const { diff, additions, deletions } = lineDiff(before, after)
    assert.equal(apply(before, diff), after, JSON.stringify({ before, after, diff }))
    assert.equal(diff.match(/^\+/gm)?.length ?? 0, additions)
    assert.equal(diff.match(/^-/gm)?.length ?? 0, deletions)
  }
})

test("lineDiff() is the shortest one, with three lines around each change", () => {
  const lines = Array.from({ length: 30 }, (_, i) => `${i + 1}\n`)
  const before = lines.join("")
  lines.splice(4, 1, "five\n")
  lines.splice(20, 0, "new\n")
  const { diff, additions, deletions } = lineDiff(before, lines.join(""))
  assert.deepEqual({ additions, deletions }, { additions: 2, deletions: 1 })
  assert.equal(
    diff,
    "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -18,6 +18,7 @@\n 18\n 19\n 20\n+new\n 21\n 22\n 23\n",
  )
})

test("lineDiff() shows an added or removed line end", () => {
  assert.deepEqual(lineDiff("a\nb", "a\nb\n"), {
    additions: 1,
    deletions: 1,
    diff: "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n",
  })
  assert.deepEqual(lineDiff("same", "same"), { additions: 0, deletions: 0, diff: "" })
})

test("lineDiff() gives up on the shortest diff if that takes long, and stays bounded", () => {
  const make = (word: string) => Array.from({ length: 60_000 }, (_, i) => `${word} ${i}\n`).join("")
  const { diff, additions, deletions } = lineDiff(`top\n${make("a")}end\n`, `top\n${make("b")}end\n`)
  assert.deepEqual({ additions, deletions }, { additions: 60_000, deletions: 60_000 })
  assert.ok(diff.length < 7_000)
  assert.match(diff, /^@@ -1,60002 \+1,60002 @@\n top\n-a 0\n[\s\S]*\[the diff is longer\]\n$/)
})
