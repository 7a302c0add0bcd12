// Where a text points at resources of servers.
import assert from "node:assert/strict"
import { test } from "node:test"
import { findResources } from "#engine/session/find-resources.ts"

const servers = ["db", "db:two", "my server"]
const found = (text: string) =>
  findResources(text, servers).resources.map(({ serverName, resourceUri }) => `${serverName} ${resourceUri}`)

test("findResources() finds @server:uri of known servers, each once, without the end of a sentence", () => {
  assert.deepEqual(found("See @db:rows://a/b?x=1, and (@db:rows://c)."), ["db rows://a/b?x=1", "db rows://c"])
  assert.deepEqual(found("@db:rows://a @db:rows://a"), ["db rows://a"])
  assert.deepEqual(found("@db:two:rows://a"), ["db:two rows://a"])
  assert.deepEqual(found('@"my server:file:///a b.md"!'), ["my server file:///a b.md"])
  assert.deepEqual(found("@db:urn:isbn:1"), ["db urn:isbn:1"])
})

test("findResources() leaves alone what is no resource of a known server", () => {
  for (const text of ["@other:rows://a", "me@db:rows://a", "@db:10-20", "@db", "@db:", "db:rows://a"])
    assert.deepEqual(findResources(text, servers), { resources: [], rest: text })
  assert.deepEqual(found(`@db:rows://${"a".repeat(3_000)}`), [])
  assert.equal(found(Array.from({ length: 100 }, (_, i) => `@db:rows://${i}`).join(" ")).length, 20)
})

test("findResources() takes what it found out of the text, and looks into no block of code", () => {
  const { rest } = findResources("Read @db:file:///notes.md and @src/app.ts.", servers)
  assert.equal(rest, "Read  and @src/app.ts.")
  assert.deepEqual(found("```\n@db:rows://a\n```\n@db:rows://b"), ["db rows://b"])
})
