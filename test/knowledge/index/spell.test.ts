// Texts as words.
import assert from "node:assert/strict"
import { test } from "node:test"
import { queryWords, spell } from "#knowledge/index/spell.ts"

test("spell() cuts identifiers and keeps them whole", () => {
  assert.equal(spell("readTextFile"), "read Text File readTextFile")
  assert.equal(spell("read_text-file"), "read text file readtextfile")
  assert.equal(spell("parseHTTPRequest"), "parse HTTP Request parseHTTPRequest")
  assert.equal(spell("getÄnderung"), "get Änderung getÄnderung")
  assert.equal(spell("plain words, 3.5 of them"), "plain words, 3.5 of them")
})

test("spell() makes words where a script has no spaces", () => {
  assert.equal(spell("天气预报").trim(), "天气 气预 预报 报")
  assert.equal(spell("使うAPIです").replace(/ +/g, " ").trim(), "使う う API です す")
  assert.equal(spell("go🚀now").replace(/ +/g, " "), "go 🚀 now")
})

test("queryWords() leaves out stop words, and returns each word once", () => {
  assert.deepEqual(queryWords("Can you please show me the Files, files and FILES?"), ["show", "files"])
  assert.deepEqual(queryWords("to be or not to be"), ["to", "be", "or", "not"])
  assert.deepEqual(queryWords('"a" NEAR(b*) ^c {d}: -e'), ["near", "b", "c", "d", "e"])
  assert.deepEqual(queryWords(" \0\ud800 … !"), [])
  assert.equal(queryWords("z".repeat(1_000))[0]?.length, 64)
  assert.equal(queryWords(Array.from({ length: 500 }, (_, at) => `word${at}`).join(" ")).length, 64)
})
