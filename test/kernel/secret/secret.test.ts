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

test("Secret.register() sorts the secrets only when they are needed", () => {
  const { sort } = Array.prototype
  let sorted = 0
  Array.prototype.sort = function (...args) {
    sorted++
    return sort.apply(this, args)
  }
  try {
    for (let i = 0; i < 1000; i++) Secret.register(`one-of-many-${i}`, "many")
    assert.equal(sorted, 0)
    for (let i = 0; i < 3; i++) assert.equal(Secret.redact("one-of-many-999 x"), "[many] x")
    assert.equal(sorted, 1)
    Secret.register("one-of-many-999", "many")
    Secret.redact("x")
    assert.equal(sorted, 1, "what is held already is no change")
  } finally {
    Array.prototype.sort = sort
  }
})

test("Secret.registerEncoded() redacts the lines of base64 and hex that programs wrap", () => {
  const value = Array.from({ length: 20 }, (_, i) => `part-${i * 7919}`).join("+")
  Secret.registerEncoded(value, "long")
  const wrap = (text: string, width: number) => text.match(new RegExp(`.{1,${width}}`, "g"))!
  // A program that reads the value as a line encodes its line end too.
  const bytes = Buffer.from(`${value}\n`)
  for (const [encoding, width] of [
    ["hex", 60],
    ["base64", 64],
    ["base64", 76],
  ] as const)
    for (const line of wrap(bytes.toString(encoding), width))
      assert.match(Secret.redact(`1: ${line}`), /^1: \[long\].{0,4}$/, `${encoding} ${width}: ${line}`)
})
