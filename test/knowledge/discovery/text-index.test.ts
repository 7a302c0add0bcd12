// Finding by words.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createTextIndex } from "#knowledge/discovery/text-index.ts"

test("createTextIndex() finds by name, by description, by other forms of a word, and by parts of a name", () => {
  const index = createTextIndex()
  index.put({ id: "1", name: "read_text_file", description: "Show what is in it" })
  index.put({ id: "2", name: "createIssue", description: "Opens a ticket in the tracker" })
  index.put({ id: "3", name: "weather", description: "Forecasts for the next days; reads no files" })
  const find = (query: string) => index.search(query, 10).map(({ id }) => id)
  assert.deepEqual(find("read a file"), ["1", "3"])
  assert.deepEqual(find("opening tickets"), ["2"])
  assert.deepEqual(find("issue"), ["2"])
  assert.deepEqual(find("foreca"), ["3"])
  index.put({ id: "3", name: "weather", description: "Sun and rain" })
  assert.deepEqual(find("forecast"), [])
  index.remove("2")
  assert.deepEqual(find("issue"), [])
  index.close()
})

test("createTextIndex() takes any words as words", () => {
  const index = createTextIndex()
  index.put({ id: "1", name: "near", description: 'a "quoted" AND NOT thing' })
  for (const query of ['"', "AND NOT", "near(", "a* OR", "';--", "", "NEAR/2", "x".repeat(10_000)])
    assert.doesNotThrow(() => index.search(query, 5), query)
  assert.deepEqual(index.search("'not' (thing", 5).length, 1)
  index.close()
})
