// References to resources of MCP servers in a text.
import assert from "node:assert/strict"
import { test } from "node:test"
import { findResources } from "#engine/attach/find-references.ts"

const servers = ["db", "db:two", "my server"]
const found = (text: string) =>
  findResources(text, servers).resources.map(({ serverName, resourceUri }) => `${serverName} ${resourceUri}`)

test("findResources() finds @server:uri of known servers, each once, without trailing punctuation", () => {
  assert.deepEqual(found("See @db:rows://a/b?x=1, and (@db:rows://c)."), ["db rows://a/b?x=1", "db rows://c"])
  assert.deepEqual(found("@db:rows://a @db:rows://a"), ["db rows://a"])
  assert.deepEqual(found("@db:two:rows://a"), ["db:two rows://a"])
  assert.deepEqual(found('@"my server:file:///a b.md"!'), ["my server file:///a b.md"])
  assert.deepEqual(found("@db:urn:isbn:1"), ["db urn:isbn:1"])
})

test("findResources() ignores words that name no known server", () => {
  for (const text of ["@other:a:b", "me@db:rows://a", "@db:10-20", "@db", "@db:", "db:rows://a"])
    assert.deepEqual(findResources(text, servers), { resources: [], misspelt: [], rest: text })
  assert.deepEqual(found(`@db:rows://${"a".repeat(3_000)}`), [])
  assert.equal(found(Array.from({ length: 100 }, (_, i) => `@db:rows://${i}`).join(" ")).length, 20)
})

test("findResources() removes resources from the text, and ignores code blocks", () => {
  const { rest } = findResources("Read @db:file:///notes.md and @src/app.ts.", servers)
  assert.equal(rest, "Read  and @src/app.ts.")
  assert.deepEqual(found("```\n@db:rows://a\n```\n@db:rows://b"), ["db rows://b"])
})

test("findResources() reports likely typos of server names", () => {
  const wrong = (text: string) => findResources(text, ["notes", "db"]).misspelt
  assert.deepEqual(wrong("See @note:rows://a, @note:rows://a and @notess:urn:isbn:1."), [
    { word: "note:rows://a", serverName: "note", meant: "notes:rows://a" },
    { word: "notess:urn:isbn:1", serverName: "notess", meant: "notes:urn:isbn:1" },
  ])
  assert.deepEqual(wrong("@elsewhere:rows://a"), [{ word: "elsewhere:rows://a", serverName: "elsewhere" }])
  assert.equal(wrong(Array.from({ length: 100 }, (_, i) => `@x${i}:rows://a`).join(" ")).length, 3)
  for (const text of [
    "@notes:rows://a",
    "@alice:example.org:8448",
    "@note:10:5",
    "@note.ts:10",
    "@scope:registry=https://example.com/",
    "@scope/package:https://example.com/",
    "git@host:rows://a",
    "```\n@elsewhere:rows://a\n```",
  ])
    assert.deepEqual(wrong(text), [], text)
})
