// Which servers the files and the configuration of a work tree name.
import assert from "node:assert/strict"
import { rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, test } from "node:test"
import { type Loaded, loadServers } from "#ability/mcp/load-servers.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

type Given = Parameters<typeof loadServers>[0]

/** As it is written in a file. */
function variable(name: string): string {
  return `$\{${name}}`
}

const notTrusted = 'the folder is not trusted; "vitamin trust" trusts it'

afterEach(() => Storage.close())

/** With the files as they are now reviewed, or as if nobody had ever trusted the folder. */
async function load(tmp: Tmp, given: Partial<Given> & { trusted?: boolean } = {}): Promise<Loaded> {
  const { trusted = true, ...options } = given
  if (trusted) await Trust.grant(tmp.path)
  const reviewed = trusted ? await Reviewed.of(tmp.path) : Reviewed.nothing(tmp.path)
  return loadServers({ reviewed, configured: [], ...options })
}

test("loadServers() reads a name and a command line from .vitamin/mcp.json", async () => {
  await using tmp = await tmpdir()
  tmp.write(
    ".vitamin/mcp.json",
    `{ "servers": [{ "name": "playwright", "command": "npx @playwright/mcp --caps 'vision, pdf'" }] } // own`,
  )
  const { servers, problems } = await load(tmp)
  assert.deepEqual(problems, [])
  assert.deepEqual(servers, [
    {
      id: "playwright",
      source: ".vitamin/mcp.json",
      server: {
        id: "playwright",
        name: "playwright",
        transport: "stdio",
        command: ["npx", "@playwright/mcp", "--caps", "vision, pdf"],
        cwd: tmp.path,
      },
    },
  ])
})

test("loadServers() reads the mcpServers of .mcp.json and puts variables in", async () => {
  await using tmp = await tmpdir()
  process.env.LOAD_SERVERS_TOKEN = "a-long-token-of-a-person"
  const written = {
    db: {
      command: "db-server",
      args: ["--port", variable("LOAD_SERVERS_PORT:-5432")],
      env: { DB_TOKEN: variable("LOAD_SERVERS_TOKEN") },
    },
    web: {
      type: "http",
      url: "https://example.com/mcp",
      headers: { Authorization: `Bearer ${variable("LOAD_SERVERS_TOKEN")}` },
    },
    lost: { command: "x", args: [variable("LOAD_SERVERS_NOWHERE")] },
  }
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: written }))
  const { servers } = await load(tmp)
  delete process.env.LOAD_SERVERS_TOKEN
  const [db, lost, web] = servers
  assert.deepEqual(db!.server!.command, ["db-server", "--port", "5432"])
  assert.deepEqual(db!.server!.env, { DB_TOKEN: "a-long-token-of-a-person" })
  assert.equal(web!.server!.transport, "http")
  assert.deepEqual(web!.server!.headers, { Authorization: "Bearer a-long-token-of-a-person" })
  assert.equal(lost!.server, undefined)
  assert.match(lost!.problem!, /LOAD_SERVERS_NOWHERE is not set/)
  assert.doesNotMatch(Secret.redact("say a-long-token-of-a-person"), /a-long-token/)
})

test("loadServers() redacts every key of an address, also of a repeated parameter", async () => {
  await using tmp = await tmpdir()
  const url = "https://example.com/mcp?api_key=first-long-secret-key&api_key=second-long-secret-key"
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: { web: { type: "http", url } } }))
  await load(tmp)
  assert.doesNotMatch(Secret.redact("first-long-secret-key second-long-secret-key"), /long-secret/)
})

test("loadServers() uses the later source of an equal id, and reports it", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/mcp.json", JSON.stringify({ servers: [{ name: "one", command: "first" }] }))
  tmp.write(
    ".mcp.json",
    JSON.stringify({ mcpServers: { one: { command: "second" }, two: { command: "b" } } }),
  )
  const configured = [{ id: "two", name: "Two", transport: "stdio" as const, command: ["third"] }]
  const { servers, problems } = await load(tmp, { configured })
  assert.deepEqual(
    servers.map(({ id, source, server }) => [id, source, server!.command]),
    [
      ["one", ".mcp.json", ["second"]],
      ["two", "configuration", ["third"]],
    ],
  )
  assert.match(problems.join("\n"), /one of \.vitamin\/mcp\.json is replaced by the one of \.mcp\.json/)
})

test("loadServers() leaves out unusable servers and keeps the others", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/mcp.json", "{ not json")
  const mcpServers = {
    old: { type: "gopher", url: "https://example.com/sse" },
    file: { url: "file:///etc/passwd" },
    wrong: { command: 7 },
    empty: {},
    off: { command: "x", disabled: true },
    good: { command: "x" },
    "a/b *": { command: "x" },
  }
  tmp.write(".mcp.json", JSON.stringify({ mcpServers }))
  const { servers, problems } = await load(tmp)
  assert.match(problems[0]!, /^\.vitamin\/mcp\.json is not used: /)
  const usable = servers.filter(({ server }) => server).map(({ id }) => id)
  assert.deepEqual(usable, ["a-b-", "good"])
  const problemOf = (id: string) => servers.find((server) => server.id === id)!.problem!
  assert.match(problemOf("old"), /transport "gopher" is not known/)
  assert.match(problemOf("file"), /not one of http or https/)
  assert.match(problemOf("wrong"), /command: /)
  assert.match(problemOf("empty"), /no command/)
  assert.match(problemOf("off"), /disabled/)
})

test("loadServers() limits the servers of a hostile file, and reports a wrong shape", async () => {
  await using tmp = await tmpdir()
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`s${i}`, { command: "x" }]))
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: many }))
  tmp.write(".vitamin/mcp.json", JSON.stringify({ servers: "all of them" }))
  const { servers, problems } = await load(tmp)
  assert.equal(servers.length, 200)
  assert.match(problems[0]!, /"servers" is neither a list nor an object/)
  assert.match(problems[1]!, /there are more than 200 servers/)
})

test("loadServers() uses no server of an untrusted folder's files", async () => {
  await using tmp = await tmpdir()
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: { one: { command: variable("HOME") }, two: {} } }))
  const configured = [{ id: "own", name: "own", transport: "stdio" as const, command: ["x"] }]
  const { servers, untrusted } = await load(tmp, { trusted: false, configured })
  assert.deepEqual(
    servers.map(({ id, server, problem }) => [id, server !== undefined, problem]),
    [
      ["one", false, notTrusted],
      ["own", true, undefined],
      ["two", false, notTrusted],
    ],
  )
  assert.equal(untrusted, 2)
  const own = servers.find(({ id }) => id === "own")!.server!
  assert.notEqual(own.cwd, tmp.path, "nor does a server of the person look for programs in it")
})

test("loadServers() adds servers of skills unless the id is configured, those of a project only if trusted", async () => {
  await using tmp = await tmpdir()
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: { db: { command: "db" } } }))
  const bring = (id: string, isOwn: boolean) => ({
    id,
    entry: { command: "x" },
    source: "skill a",
    folder: tmp.path,
    isOwn,
  })
  const added = [bring("db", true), bring("theirs", false), bring("own", true), bring("../x", true)]
  const trusted = await load(tmp, { added })
  assert.deepEqual(
    trusted.servers.map(({ id, source, server }) => [id, source, server?.command?.[0]]),
    [
      ["../x", "skill a", undefined],
      ["db", ".mcp.json", "db"],
      ["own", "skill a", "x"],
      ["theirs", "skill a", "x"],
    ],
  )
  assert.deepEqual(trusted.problems, ["db of skill a is not used: there is a server of this name"])
  const untrusted = await load(tmp, { added, trusted: false })
  const usable = untrusted.servers.flatMap(({ id, server }) => (server ? [id] : []))
  assert.deepEqual(usable, ["own"])
})

test("loadServers() uses no server of an unreviewed file, and names the command that reviews it", async () => {
  await using tmp = await tmpdir()
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: { one: { command: "one" } } }))
  await load(tmp)
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: { one: { command: "evil" } } }))
  tmp.write(".vitamin/mcp.json", JSON.stringify({ servers: [{ name: "two", command: "two" }] }))
  const { servers, untrusted } = await loadServers({ reviewed: await Reviewed.of(tmp.path), configured: [] })
  assert.deepEqual(
    servers.map(({ id, server, problem }) => [id, server, problem]),
    [
      ["one", undefined, 'it changed since it was reviewed; "vitamin trust" shows the difference'],
      ["two", undefined, 'it is new since the folder was reviewed; "vitamin trust" shows it'],
    ],
  )
  assert.equal(untrusted, 2)
})

for (const command of [
  "./server.js",
  "node server.js",
  "node --import ./lib/first.mjs other",
  "sh -c 'node ./server.js --all'",
  ["env", "A=b", "node", "server.js"],
])
  test(`loadServers() does not use ${JSON.stringify(command)} when one of its files changed`, async () => {
    await using tmp = await tmpdir()
    tmp.write("lib/first.mjs", 'import "./second.mjs"')
    const second = tmp.write("lib/second.mjs", "export const a = 1")
    tmp.write("server.js", 'const { a } = require("./lib/second.mjs")')
    tmp.write(".mcp.json", JSON.stringify({ mcpServers: { one: { command } } }))
    const before = await load(tmp)
    assert.ok(before.servers[0]?.server, before.servers[0]?.problem)
    writeFileSync(second, "evil")
    const after = await loadServers({ reviewed: await Reviewed.of(tmp.path), configured: [] })
    assert.equal(after.servers[0]?.server, undefined)
    assert.match(after.servers[0]?.problem ?? "", /^it runs lib\/second\.mjs: it changed since/)
  })

test("loadServers() allows a server whose data files in the project change", async () => {
  await using tmp = await tmpdir()
  tmp.write("memory.json", "{}")
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: { one: { command: "memory --file ./memory.json" } } }))
  await load(tmp)
  tmp.write("memory.json", '{ "a": 1 }')
  const { servers } = await loadServers({ reviewed: await Reviewed.of(tmp.path), configured: [] })
  assert.ok(servers[0]?.server, servers[0]?.problem)
})

test("loadServers() does not read a link out of the work tree that replaced a reviewed file", async () => {
  await using tmp = await tmpdir()
  const file = tmp.write(".mcp.json", JSON.stringify({ mcpServers: { one: { command: "one" } } }))
  await load(tmp)
  tmp.write("../elsewhere.json", JSON.stringify({ mcpServers: { theirs: { command: "x" } } }))
  rmSync(file)
  symlinkSync(join(tmp.path, "../elsewhere.json"), file)
  const { servers, problems } = await loadServers({ reviewed: await Reviewed.of(tmp.path), configured: [] })
  assert.deepEqual(servers, [])
  assert.match(problems[0]!, /\.mcp\.json is not used: it leads outside the work tree/)
})
