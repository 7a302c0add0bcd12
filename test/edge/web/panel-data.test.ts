// Data that panels must survive: circles, unknown parents, thousands of branches, unusual file names.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Branch, Plan } from "#client/client.ts"
import { branchRows } from "#edge/web/panel/branch-tree.ts"
import { nodesOf } from "#edge/web/panel/plan-nodes.ts"
import { splitDiff } from "#edge/web/panel/split-diff.ts"

const branch = (name: string, from?: string): Branch => ({
  name,
  active: false,
  tip: null,
  count: 0,
  ...(from === undefined ? {} : { from: { branch: from, messageId: "msg" } }),
})
const shown = (branches: Branch[], closed: string[] = []) =>
  branchRows(branches, new Set(closed)).map(({ branch: { name }, level }) => `${level} ${name}`)

test("branchRows() shows each branch once, also in circles and below branches that do not exist", () => {
  assert.deepEqual(shown([branch("main"), branch("a", "main"), branch("b", "main"), branch("c", "a")]), [
    "1 main",
    "2 a",
    "3 c",
    "2 b",
  ])
  assert.deepEqual(shown([branch("a", "b"), branch("b", "a"), branch("c", "c"), branch("d", "gone")]), [
    "1 c",
    "1 d",
    "1 a",
    "2 b",
  ])
  assert.deepEqual(shown([branch("main"), branch("a", "main"), branch("b", "a")], ["main"]), ["1 main"])
})

test("branchRows() takes a chain of 10,000 branches", () => {
  const chain = Array.from({ length: 10_000 }, (_, i) => branch(`b${i}`, i ? `b${i - 1}` : undefined))
  assert.equal(shown(chain).at(-1), "10000 b9999")
})

test("nodesOf() leaves out edges to the node itself and to unknown nodes, and doubled nodes", () => {
  const node = (id: string, parents: string[], edgeType = "step") => ({
    id,
    parents,
    edgeType,
    context: { description: id },
    createdAt: 0,
  })
  const plan: Plan = {
    sessionId: "ses",
    nodes: [
      node("agent:ses", [], "agent"),
      node("plan", [], "plan"),
      node("a", ["plan", "b", "a", "gone", "b"]),
      node("b", ["a"]),
      node("b", []),
    ],
  }
  assert.deepEqual(
    nodesOf(plan).map(({ id, parents }) => [id, parents]),
    [
      ["plan", []],
      ["a", ["b"]],
      ["b", ["a"]],
    ],
  )
})

test("splitDiff() finds files by their paths: quoted, with blanks, binary, and lines that look like heads", () => {
  const text = [
    'diff --git "a/na\\303\\257ve \\"x\\".txt" "b/na\\303\\257ve \\"x\\".txt"',
    '--- "a/na\\303\\257ve \\"x\\".txt"',
    '+++ "b/na\\303\\257ve \\"x\\".txt"',
    "@@ -1 +1 @@",
    "-diff --git a/no b/no",
    "+++ b/also-no",
    "diff --git a/two words b/two words",
    "new file mode 100644",
    "Binary files /dev/null and b/two words differ",
    "",
  ].join("\n")
  const parts = splitDiff(text)
  assert.deepEqual([...parts.keys()], ['naïve "x".txt', "two words"])
  assert.match(parts.get('naïve "x".txt')!, /also-no\n$/)
})
