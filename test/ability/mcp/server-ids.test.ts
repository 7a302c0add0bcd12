// Ids for names that an editor gives to servers.
import assert from "node:assert/strict"
import { test } from "node:test"
import { idsOf } from "#ability/mcp/server-ids.ts"

test("idsOf() keeps valid ids, and converts other names if their id is unique", () => {
  const ids = idsOf(["db", "a-b", "my files", "日本 x", "db"])
  assert.deepEqual(Object.fromEntries(ids), {
    db: "db",
    "a-b": "a-b",
    "my files": "my-files",
    "日本 x": "-x",
  })
})

test("idsOf() gives colliding names different ids, in any order the same", () => {
  const long = "x".repeat(64)
  const names = [
    "日本",
    "中国",
    "a b",
    "a-b",
    "a  b",
    "c d",
    "c/d",
    `${long}1`,
    `${long}2`,
    long,
    "__proto__",
  ]
  const ids = idsOf(names)
  assert.equal(new Set(ids.values()).size, names.length)
  for (const id of ids.values()) assert.match(id, /^(?=.*[a-z\d])[\w.-]{1,64}$/)
  for (const name of ["a-b", long, "__proto__"]) assert.equal(ids.get(name), name)
  assert.match(ids.get("a b")!, /^a-b-[0-9a-f]{8}$/)
  const turned = idsOf(names.toReversed())
  for (const name of names) assert.equal(turned.get(name), ids.get(name))
  assert.equal(idsOf(["日本"]).get("日本"), ids.get("日本"))
})
