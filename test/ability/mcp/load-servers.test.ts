// Which servers the files and the configuration of a work tree name.
import assert from "node:assert/strict"
import { test } from "node:test"
import { type Loaded, loadServers, notTrusted } from "#ability/mcp/load-servers.ts"
import * as Secret from "#kernel/secret.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

/** As it is written in a file. */
function variable(name: string): string {
  return `$\{${name}}`
}

async function load(tmp: Tmp, options: { trusted?: boolean } = {}): Promise<Loaded> {
  return loadServers({ worktree: tmp.path, trusted: true, configured: [], ...options })
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

test("loadServers() takes the later source of an equal id and says so", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/mcp.json", JSON.stringify({ servers: [{ name: "one", command: "first" }] }))
  tmp.write(
    ".mcp.json",
    JSON.stringify({ mcpServers: { one: { command: "second" }, two: { command: "b" } } }),
  )
  const configured = [{ id: "two", name: "Two", transport: "stdio" as const, command: ["third"] }]
  const { servers, problems } = await loadServers({ worktree: tmp.path, trusted: true, configured })
  assert.deepEqual(
    servers.map(({ id, source, server }) => [id, source, server!.command]),
    [
      ["one", ".mcp.json", ["second"]],
      ["two", "configuration", ["third"]],
    ],
  )
  assert.match(problems.join("\n"), /one of \.vitamin\/mcp\.json is replaced by that of \.mcp\.json/)
})

test("loadServers() leaves out what cannot be used and keeps the rest", async () => {
  await using tmp = await tmpdir()
  tmp.write(".vitamin/mcp.json", "{ not json")
  const mcpServers = {
    old: { type: "sse", url: "https://example.com/sse" },
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
  assert.match(problemOf("old"), /"sse" is not spoken/)
  assert.match(problemOf("file"), /not one of http or https/)
  assert.match(problemOf("wrong"), /command: /)
  assert.match(problemOf("empty"), /no command/)
  assert.match(problemOf("off"), /disabled/)
})

test("loadServers() bounds what a hostile file names, and says what is wrong with its shape", async () => {
  await using tmp = await tmpdir()
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`s${i}`, { command: "x" }]))
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: many }))
  tmp.write(".vitamin/mcp.json", JSON.stringify({ servers: "all of them" }))
  const { servers, problems } = await load(tmp)
  assert.equal(servers.length, 200)
  assert.match(problems[0]!, /"servers" is neither a list nor an object/)
  assert.match(problems[1]!, /there are more than 200 servers/)
})

test("loadServers() uses nothing of the files of a folder that is not trusted", async () => {
  await using tmp = await tmpdir()
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: { one: { command: variable("HOME") }, two: {} } }))
  const configured = [{ id: "own", name: "own", transport: "stdio" as const, command: ["x"] }]
  const { servers, untrusted } = await loadServers({ worktree: tmp.path, trusted: false, configured })
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

test("loadServers() takes what something in use brings, behind what is configured, and a project's only when trusted", async () => {
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
  const options = { worktree: tmp.path, configured: [], added }
  const trusted = await loadServers({ ...options, trusted: true })
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
  const untrusted = await loadServers({ ...options, trusted: false })
  const usable = untrusted.servers.flatMap(({ id, server }) => (server ? [id] : []))
  assert.deepEqual(usable, ["own"])
})
