// Valid data and keys, and secrets that must never be written.
import assert from "node:assert/strict"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { onBackends, tmpStore } from "../../fixture/tmp-store.ts"

const key = ["data", "one"]

function deep(levels: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = [value]
  return value
}

onBackends(
  "Storage.write() refuses data that is not JSON, names the record, and keeps the old value",
  async (open) => {
    await using _ = await open()
    await Storage.write(key, "old")
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const bad: [unknown, RegExp][] = [
      [undefined, /undefined is not JSON/],
      [() => {}, /function is not JSON/],
      [Symbol("s"), /symbol is not JSON/],
      [{ n: 1n }, /BigInt/],
      [circular, /circular/],
      [deep(100_000), /call stack/],
    ]
    for (const [data, reason] of bad)
      await assert.rejects(Storage.write(key, data), (error: Error) => {
        assert.ok(error instanceof Storage.InvalidData)
        assert.match(error.message, /^Record data\/one cannot be stored: /)
        assert.match(error.message, reason)
        return true
      })
    assert.equal(await Storage.read(key), "old")
  },
)

onBackends("Storage stores a `__proto__` key as plain data", async (open) => {
  await using store = await open()
  const text = '{"__proto__":{"admin":true},"constructor":{"prototype":1}}'
  await Storage.write(key, JSON.parse(text))
  await Storage.update<Record<string, unknown>>(key, (draft) => {
    draft.n = 1
  })
  const value = await Storage.read<Record<string, unknown>>(key)
  assert.deepEqual(Object.keys(value), ["__proto__", "constructor", "n"])
  assert.equal(Object.getPrototypeOf(value), Object.prototype)
  assert.equal((value as { admin?: boolean }).admin, undefined)
  assert.equal(await store.plain(...key), text.replace(/}$/, ',"n":1}'))
})

const badKeys: [unknown, RegExp][] = [
  [[], /at least one part/],
  ["session", /at least one part/],
  [undefined, /at least one part/],
  [["a", ""], /not empty/],
  [["a", 1], /is a string/],
  [["a", null], /is a string/],
  [["a", 1n], /is a string/],
  [["a", ["b"]], /is a string/],
  [["..", "x"], /starts with a dot/],
  [["a", ".."], /starts with a dot/],
  [["a", "."], /starts with a dot/],
  [[".tmp", "x"], /starts with a dot/],
  [["a", ".json"], /starts with a dot/],
  [["a", "b.json"], /ends in ".json"/],
  [["a/../../b"], /separator or control/],
  [["/etc/passwd"], /separator or control/],
  [["a\\b"], /separator or control/],
  [["a\0"], /separator or control/],
  [["a\nb"], /separator or control/],
  [["a".repeat(300)], /longer than 200 bytes/],
  [["ü".repeat(101)], /longer than 200 bytes/],
  [["a\ud800"], /not well-formed/],
]

for (const [bad, reason] of badKeys)
  test(`Storage refuses the key ${String(typeof bad === "object" ? JSON.stringify(bad, (_, v) => (typeof v === "bigint" ? "1n" : v)) : bad).slice(0, 40)}`, async () => {
    await using store = await tmpStore()
    const wrong = bad as string[]
    const refused = { name: "Storage.InvalidKey", message: reason }
    await assert.rejects(Storage.write(wrong, 1), refused)
    await assert.rejects(Storage.read(wrong), refused)
    await assert.rejects(
      Storage.update(wrong, () => {}, { initial: {} }),
      refused,
    )
    await assert.rejects(Storage.remove(wrong), refused)
    assert.equal(existsSync(store.root), false)
  })

onBackends("Storage takes keys with unusual but safe names", async (open) => {
  await using store = await open()
  const names = [
    "__proto__",
    "constructor",
    "a b",
    "日本",
    "CON",
    "a.b",
    "x~",
    "%2e%2e",
    "-rf",
    "a".repeat(200),
    // Composed and decomposed, upper and lower case, beyond and below the surrogates: six different names.
    "\u00e9",
    "e\u0301",
    "con",
    "\u{1f600}",
    "\uff5e",
    "a-b",
    "a'b; drop table x --",
    '{"a","b"}',
    "$1",
    "NULL",
  ]
  for (const name of names) await Storage.write(["odd", name], name)
  for (const name of names) assert.equal(await Storage.read(["odd", name]), name)
  assert.deepEqual(await Storage.list(["odd"]), [...names].sort())
  for (const name of names) await Storage.write(["odd", name, "below"], name)
  assert.deepEqual(await Storage.list(["odd"]), [...names].sort())
  for (const name of names) assert.deepEqual(await Storage.list(["odd", name]), ["below"])
  const folders = store.backend === "files" ? ["journal", "storage"] : []
  assert.deepEqual(existsSync(store.root) ? readdirSync(store.root).sort() : [], folders)
})

test("Storage never writes a known secret, plain or escaped, in any value", async () => {
  await using store = await tmpStore()
  const plain = "sk-held-0123456789"
  const odd = 'pem "quoted"\nline\\two\u0007'
  Secret.register(plain, "plain key")
  Secret.register(`${plain}-and-longer`, "longer key")
  Secret.register(odd, "odd key")
  const data = {
    text: `before ${plain} after`,
    longer: `${plain}-and-longer`,
    nested: [{ deep: [`${odd}!`] }],
    [plain]: "as a name",
    json: JSON.stringify({ inner: odd }),
  }
  await Storage.write(key, data)
  await Storage.update<{ more?: string }>(key, (draft) => {
    draft.more = plain
  })
  await Storage.close()
  assert.deepEqual(await Storage.read(key), {
    text: "before [plain key] after",
    longer: "[longer key]",
    nested: [{ deep: ["[odd key]!"] }],
    "[plain key]": "as a name",
    json: '{"inner":"[odd key]"}',
    more: "[plain key]",
  })
  const files = readdirSync(store.root, { recursive: true, withFileTypes: true }).filter((e) => e.isFile())
  assert.ok(files.length >= 3)
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(join(parentPath, name))
    for (const part of ["sk-held", "and-longer", "quoted"]) assert.equal(bytes.includes(part), false, name)
  }
})

onBackends("Storage does not redact text that only looks like a secret", async (open) => {
  await using _ = await open()
  Secret.register("ntoken-12345", "token")
  Secret.register("1234567890", "number")
  Secret.register("short", "too short")
  const data = {
    lookAlike: "sk-ant-api03-AAAAAAAAAAAAAAAA",
    newline: "first\ntoken-12345",
    number: 1234567890,
    short: "a short word",
  }
  await Storage.write(key, data)
  assert.deepEqual(await Storage.read(key), data)
})
