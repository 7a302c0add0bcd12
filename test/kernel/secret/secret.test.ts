// Redaction by value: known secrets are replaced, similar text stays.
import assert from "node:assert/strict"
import { test } from "node:test"
import * as Secret from "#kernel/secret/secret.ts"

test("Secret.redact() replaces every known value, the longer one first", () => {
  Secret.register("redact-me-1", "one")
  Secret.register("redact-me-1-and-more", "two")
  assert.equal(Secret.redact("redact-me-1 redact-me-1-and-more redact-me-2"), "[one] [two] redact-me-2")
  assert.equal(Secret.reveals("x redact-me-1"), true)
  assert.equal(Secret.reveals("x redact-me-2"), false)
})

test("Secret.register() ignores short and missing values", () => {
  Secret.register("seven77", "short")
  Secret.register("", "empty")
  Secret.register(undefined, "missing")
  assert.equal(Secret.redact("seven77 undefined"), "seven77 undefined")
})

test("Secret.redact() is not misled by special patterns in a label", () => {
  Secret.register("special-pattern", "$& $1")
  assert.equal(Secret.redact("a special-pattern b"), "a [$& $1] b")
})

test("Secret.redactJson() returns valid JSON for any secret", () => {
  const secrets = ['quote"inside', "nline-break", "back\\slash", "42424242", "true,false", 'label "quoted"']
  for (const secret of secrets) Secret.register(secret, 'label "x"')
  const data = { [secrets[0]!]: secrets, n: 42424242, text: "\nline-break", list: [true, false] }
  const label = '[label "x"]'
  assert.deepEqual(JSON.parse(Secret.redactJson(JSON.stringify(data))), {
    [secrets[0]!]: secrets.map(() => label),
    n: 42424242,
    text: "\nline-break",
    list: [true, false],
  })
  assert.equal(Secret.redactJson('{"b":1, "a":2}'), '{"b":1, "a":2}')
})

test("Secret.redactJson() does not rename a field whose name is an ordinary word and a known secret", () => {
  Secret.register("directory", "a bad key")
  const data = {
    directory: "in directory",
    nested: [{ directory: { directory: "directory" } }],
    __proto__: null,
  }
  assert.equal(
    Secret.redactJson(JSON.stringify(data)),
    '{"directory":"in [a bad key]","nested":[{"directory":{"directory":"[a bad key]"}}]}',
  )
})

test("Secret.redact() finds the right one of many secrets with the same start", () => {
  for (let i = 0; i < 3_000; i++) Secret.register(`one-of-many-${i}`, `many ${i}`)
  assert.equal(
    Secret.redact("one-of-many-29 one-of-many-2999 one-of-many-"),
    "[many 29] [many 2999] one-of-many-",
  )
  assert.equal(Secret.splitAt("see one-of-many-"), 4)
  assert.equal(Secret.cut("see one-of-many-29 and", 15), "see ")
})
