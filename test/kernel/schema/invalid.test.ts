import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Config from "#kernel/config/config.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { problemsOf, withVariable, writeGlobal } from "../config/fixture.ts"

test("Config.load() names file, line, column, key path and expectation of every problem at once", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write(
    ".vitamin/config.jsonc",
    `{
  "model": "no-slash",
  "permission": [
    { "permission": "file.read", "action": "alow", "pattern": "*" }
  ],
  "adapters": { "acp": {
    "port": "80"
  } },
  "mcp": { "servers": [{ "id": "a", "transport": "http" }] }
}`,
  )
  const { message, problems } = await problemsOf(() => Config.load({ directory: tmp.path }))
  assert.deepEqual(
    problems.map(({ source, line, column, path }) => [source, line, column, path]),
    [
      [file, 2, 3, "model"],
      [file, 4, 34, "permission[0].action"],
      [file, 9, 24, "mcp.servers[0].name"],
      [file, 7, 5, "adapters.acp.port"],
    ],
  )
  const lines = message.split("\n")
  assert.equal(lines.length, 4)
  assert.match(lines[0]!, /config\.jsonc:2:3: model: expected "provider\/model"/)
  assert.match(lines[1]!, /permission\[0\]\.action: expected one of .*"allow".*, received "alow"/)
  assert.match(lines[2]!, /mcp\.servers\[0\]\.name: is missing; expected string/)
  assert.match(lines[3]!, /adapters\.acp\.port: expected number, received string/)
})

test("Config.load() names the problems of all layers together", async () => {
  await using tmp = await tmpdir()
  const global = writeGlobal('{ "model": 1 }')
  const project = tmp.write(".vitamin/config.jsonc", "{ nope }")
  await withVariable('{ "agent": 3 }', async () => {
    const inline = { skills: { root: 5 } } as unknown as Config.Input
    const { problems } = await problemsOf(() => Config.load({ directory: tmp.path, inline }))
    assert.deepEqual(
      problems.map(({ source, path }) => [source, path]),
      [
        [global, "model"],
        [project, ""],
        ["VITAMIN_CONFIG", "agent"],
        ["inline", "skills.root"],
      ],
    )
  })
})

const bad: [string, string | Uint8Array, RegExp][] = [
  ["an empty file", "", /:1:1: .*write \{\}/],
  ["a file of comments", "// nothing\n", /:1:1: .*write \{\}/],
  ["a half-written file", '{ "model": "a/', /:1:12: .*not closed/],
  ["invalid UTF-8", Buffer.from([0x7b, 0x0a, 0xc3, 0x7d]), /:2:1: .*UTF-8/],
  ["NUL", '{ "model": "\0" }', /:1:13: .*NUL/],
  ["100 000 levels", `{ "model": ${"[".repeat(100_000)}`, /:1:211: .*deeper/],
  ["__proto__ keys", '{ "environment": { "__proto__": "x" } }', /:1:20: .*__proto__/],
  ["duplicate keys", '{ "model": "a/b",\n"model": "c/d" }', /:2:1: .*already at 1:3/],
  ["a list", "[]", /:1:1: .*object/],
  [
    "functions in data",
    '{ "mcp": { "hooks": { "onLog": "log" } } }',
    /:1:23: mcp\.hooks\.onLog: .*TypeScript/,
  ],
  ["null for a value", '{ "model": null }', /:1:3: model: expected string, received null/],
]
for (const [name, content, expected] of bad)
  test(`Config.load() refuses ${name} with its place`, async () => {
    await using tmp = await tmpdir()
    const file = writeGlobal(content)
    const { message } = await problemsOf(() => Config.load({ directory: tmp.path }))
    assert.ok(message.startsWith(file), message)
    assert.match(message, expected)
  })

test("Config.load() accepts BOM and CRLF", async () => {
  await using tmp = await tmpdir()
  writeGlobal('\ufeff{\r\n  "model": "a/b",\r\n}\r\n')
  assert.equal((await Config.load({ directory: tmp.path })).model, "a/b")
})

test("Config.load() does not hang on a pipe, and refuses a folder in place of a file", async () => {
  await using tmp = await tmpdir()
  mkdirSync(join(tmp.path, ".vitamin"))
  execFileSync("mkfifo", [join(tmp.path, ".vitamin/config.jsonc")])
  const pipe = await problemsOf(() => Config.load({ directory: tmp.path }))
  assert.match(pipe.message, /config\.jsonc: .*not a regular file/)
  await using other = await tmpdir()
  mkdirSync(join(other.path, ".vitamin/config.jsonc"), { recursive: true })
  const folder = await problemsOf(() => Config.load({ directory: other.path }))
  assert.match(folder.message, /config\.jsonc: .*not a regular file/)
})

test("Config.load() ignores a .vitamin that is a file", async () => {
  await using tmp = await tmpdir()
  writeFileSync(join(tmp.path, ".vitamin"), "")
  assert.deepEqual(await Config.load({ directory: tmp.path }), {})
})

test("Config.load() refuses a VITAMIN_CONFIG whose file does not exist", async () => {
  await using tmp = await tmpdir()
  await withVariable("/nowhere/x.jsonc", async () => {
    const { message } = await problemsOf(() => Config.load({ directory: tmp.path }))
    assert.match(message, /^\/nowhere\/x\.jsonc: .*VITAMIN_CONFIG/)
  })
})

for (const [value, expected] of [
  ["~/vitamin.jsonc", /"~" is not expanded/],
  ["file:///etc/vitamin.jsonc", /a path is expected, not a URL/],
] as const)
  test(`Config.load() hints at what is wrong with VITAMIN_CONFIG=${value}`, async () => {
    await using tmp = await tmpdir()
    await withVariable(value, async () => {
      const { message } = await problemsOf(() => Config.load({ directory: tmp.path }))
      assert.match(message, expected)
    })
  })

test("Config.load() ignores an empty VITAMIN_CONFIG", async () => {
  await using tmp = await tmpdir()
  for (const value of ["", " ", "\n"])
    await withVariable(value, async () => assert.deepEqual(await Config.load({ directory: tmp.path }), {}))
})

test("Config.load() refuses more than 200 providers, in one layer or in all of them together", async () => {
  await using tmp = await tmpdir()
  const providers = (count: number, name: string, settings = {}) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name}${i}`, settings]))
  const load = (inline?: Config.Input) => Config.load({ directory: tmp.path, ...(inline ? { inline } : {}) })
  const file = writeGlobal(JSON.stringify({ provider: { default: "a", ...providers(200, "a") } }))
  assert.equal(Object.keys((await load()).provider ?? {}).length, 201)
  const together = await problemsOf(() => load({ provider: providers(1, "b") }))
  assert.match(together.message, /^all layers together: provider: too many providers; at most 200/)
  writeGlobal(JSON.stringify({ provider: providers(3_000, "a", { apiKey: "too-many-keys", nope: 1 }) }))
  const { problems } = await problemsOf(() => load())
  assert.deepEqual(
    problems.map(({ source, path }) => [source, path]),
    [[file, "provider"]],
  )
})

for (const action of ["allow", "deny", "ask"])
  test(`Config.load() refuses a rule to ${action} without a pattern, also when it is only misspelt`, async () => {
    await using tmp = await tmpdir()
    writeGlobal(
      JSON.stringify({
        permission: [
          { permission: "bash.execute", action },
          { permission: "p", patern: "ls", action },
        ],
      }),
    )
    const { message } = await problemsOf(() => Config.load({ directory: tmp.path }))
    assert.match(message, /permission\[0\]\.pattern: is missing/)
    assert.match(message, /permission\[1\]\.pattern: is missing/)
  })

test("Config.load() names a rule for a permission that does not exist, with its line", async () => {
  await using tmp = await tmpdir()
  const file = writeGlobal(`{
  "permission": [
    { "permission": "mcp.*", "pattern": "*", "action": "ask" },
    { "permission": "bash.exec", "pattern": "*", "action": "deny" },
    { "permission": "file.read", "pattern": "~/.ssh/**", "action": "deny" }
  ]
}`)
  const { message } = await problemsOf(() => Config.load({ directory: tmp.path }))
  assert.deepEqual(message.split("\n"), [
    `${file}:4:7: permission[1].permission: permission "bash.exec" does not exist; did you mean "bash.execute"?`,
    `${file}:5:34: permission[2].pattern: "~" is not expanded in a pattern; write the whole path`,
  ])
})

test("Config.load() refuses __proto__, cycles and non-objects given inline", async () => {
  await using tmp = await tmpdir()
  const cycle: Record<string, unknown> = {}
  cycle.environment = cycle
  let deep: Record<string, unknown> = {}
  for (let i = 0; i < 1000; i++) deep = { environment: deep }
  for (const [inline, expected] of [
    [JSON.parse('{ "environment": { "__proto__": "x" } }'), /^inline: environment\.__proto__: /],
    [cycle, /^inline: environment: the value contains itself/],
    [deep, /^inline: environment\.environment\.environment: nested deeper/],
    [[], /^inline: expected an object, received a list/],
  ] as [Config.Input, RegExp][]) {
    const { message } = await problemsOf(() => Config.load({ directory: tmp.path, inline }))
    assert.match(message, expected)
  }
})

test("Config.load() refuses a remote URL that is neither https nor on this machine", async () => {
  await using tmp = await tmpdir()
  const urls = [
    "http://example.com/c",
    "https://u:p@example.com/c",
    "ftp://example.com",
    "file:///etc/passwd",
    "no",
  ]
  for (const url of [...urls, "http://localhost.example.com/", "http://127.0.0.1.example.com/"]) {
    writeGlobal(JSON.stringify({ remote: { url } }))
    const { message } = await problemsOf(() => Config.load({ directory: tmp.path }))
    assert.match(message, /remote\.url: expected an https URL/)
  }
  for (const url of [
    "https://example.com/c",
    "http://localhost:1/",
    "http://127.0.0.1:1/",
    "http://[::1]:1/",
  ]) {
    writeGlobal(JSON.stringify({ remote: { url } }))
    assert.equal((await Config.load({ directory: tmp.path })).remote?.url, url)
  }
})

test("Config.inspect() stays fast and brief for thousands of unknown keys and bad rules", async () => {
  await using tmp = await tmpdir()
  const keys = Array.from({ length: 9_000 }, (_, i) => `"unknown${i}": 1`)
  tmp.write(".vitamin/config.jsonc", `{ ${keys.join(",")} }`)
  const { config, warnings } = await Config.inspect({ directory: tmp.path })
  assert.deepEqual(config, {})
  assert.equal(warnings.length, 100)
  tmp.write(".vitamin/config.jsonc", `{ "permission": [${Array(4_000).fill("{}").join(",")}] }`)
  assert.equal((await problemsOf(() => Config.load({ directory: tmp.path }))).problems.length, 100)
})

test("Config.inspect() shortens a key that is far too long", async () => {
  await using tmp = await tmpdir()
  writeGlobal(`{ "${"x".repeat(1_000_000)}": 1 }`)
  const { warnings } = await Config.inspect({ directory: tmp.path })
  assert.ok(warnings[0]!.length < 600)
})
