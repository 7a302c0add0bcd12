// `mcp.hooks` of a trusted `.vitamin/config.ts`, in the built command: each hook is called, and a token is sent only to
// its own server.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { tinyServer } from "../../../ability/mcp/servers.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { lockedServer } from "../../../fixture/mcp/locked-server.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

/** Each hook writes its arguments to a file. */
const hooks = (log: string) => `
import { appendFileSync } from "node:fs"
const note = (...words: unknown[]) => appendFileSync(${JSON.stringify(log)}, JSON.stringify(words) + "\\n")
export default {
  mcp: {
    hooks: {
      onAuth: async (server: { id: string; url: string }) => {
        note("onAuth", server)
        return { value: "token-for-" + server.id }
      },
      onAuthRefresh: async (expired: { value: string }, server: { id: string; url: string }) => {
        note("onAuthRefresh", expired, server)
        return { value: "fresh-token-for-" + server.id }
      },
      onRequest: ({ method, params }) => ({
        method,
        params: method === "tools/call" ? { ...params, arguments: { from: "onRequest" } } : params,
      }),
      onResponse: ({ method, result }) => ({
        method,
        result: method === "tools/call" ? { content: [{ type: "text", text: "from onResponse" }] } : result,
      }),
      onLog: ({ source, message }: { source: string; message: string }) => note("onLog", source, message),
    },
  },
}
`

function notes(log: string, hook: string): unknown[][] {
  if (!existsSync(log)) return []
  const lines = readFileSync(log, "utf8").trim().split("\n")
  return lines.map((line) => JSON.parse(line)).filter(([name]) => name === hook)
}

async function project(tmp: Tmp, servers: object): Promise<string> {
  const log = join(tmp.path, "..", "hooks.log")
  tmp.write(".vitamin/config.ts", hooks(log))
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: servers }))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  return log
}

test("onAuth gets the server that needs a token, and a server with its own token gets that one", async () => {
  await using tmp = await tmpdir({ git: true })
  await using asking = await lockedServer()
  await using bearer = await lockedServer()
  await using header = await lockedServer()
  asking.accepted.add("token-for-asking")
  bearer.accepted.add("own-bearer-token")
  header.accepted.add("own-header-token")
  const log = await project(tmp, {
    asking: { type: "http", url: asking.url },
    bearer: { type: "http", url: bearer.url, auth: { type: "bearer", token: "own-bearer-token" } },
    header: { type: "http", url: header.url, headers: { authorization: "Bearer own-header-token" } },
  })
  for (const id of ["asking", "bearer", "header"]) {
    const { code, out, err } = await vitamin(tmp, ["mcp", "test", id])
    assert.equal(code, 0, out + err)
  }
  assert.deepEqual(new Set(asking.tokens), new Set(["token-for-asking"]))
  assert.deepEqual(new Set(bearer.tokens), new Set(["own-bearer-token"]))
  assert.deepEqual(new Set(header.tokens), new Set(["own-header-token"]))
  assert.deepEqual(notes(log, "onAuth"), [["onAuth", { id: "asking", url: asking.url }]])
})

test("a server that refuses its own token does not get the token of a hook", async () => {
  await using tmp = await tmpdir({ git: true })
  await using bearer = await lockedServer()
  await using header = await lockedServer()
  const log = await project(tmp, {
    bearer: { type: "http", url: bearer.url, auth: { type: "bearer", token: "old-bearer-token" } },
    header: { type: "http", url: header.url, headers: { Authorization: "Bearer old-header-token" } },
  })
  for (const id of ["bearer", "header"]) assert.equal((await vitamin(tmp, ["mcp", "test", id])).code, 1)
  assert.deepEqual(new Set(bearer.tokens), new Set(["old-bearer-token"]))
  assert.deepEqual(new Set(header.tokens), new Set(["old-header-token"]))
  assert.deepEqual([...notes(log, "onAuth"), ...notes(log, "onAuthRefresh")], [])
})

test("onAuthRefresh gets the server that refused the token", async () => {
  await using tmp = await tmpdir({ git: true })
  await using asking = await lockedServer()
  asking.accepted.add("fresh-token-for-asking")
  const log = await project(tmp, { asking: { type: "http", url: asking.url } })
  const { code, out, err } = await vitamin(tmp, ["mcp", "test", "asking"])
  assert.equal(code, 0, out + err)
  assert.deepEqual(notes(log, "onAuthRefresh"), [
    ["onAuthRefresh", { value: "token-for-asking" }, { id: "asking", url: asking.url }],
  ])
})

test("onRequest and onResponse change a call of vitamin run, and onLog gets the output of a server", async () => {
  await using tmp = await tmpdir({ git: true })
  const calls = join(tmp.path, "..", "calls.log")
  const log = await project(tmp, {
    tiny: tinyServer({ tools: [{ name: "one" }] }, calls),
    dying: tinyServer({ mode: "crash" }),
  })
  assert.equal((await vitamin(tmp, ["mcp", "test", "tiny"])).code, 0)
  assert.equal((await vitamin(tmp, ["mcp", "test", "dying"])).code, 1)
  assert.ok(
    notes(log, "onLog").some(([, source, message]) => source === "stderr" && message === "no database"),
  )
  await using llm = await fakeLlm([call("tiny_one", { from: "model" }), text("Done.")])
  const { code, err } = await vitamin(tmp, ["run", "--yes", "go"], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  assert.match(readFileSync(calls, "utf8"), /"arguments":\{"from":"onRequest"\}/)
  assert.match(JSON.stringify(llm.requests[1]!.body), /from onResponse/)
})

test("hooks of an untrusted folder are not called", async () => {
  await using tmp = await tmpdir({ git: true })
  await using asking = await lockedServer()
  const log = join(tmp.path, "..", "hooks.log")
  tmp.write(".vitamin/config.ts", hooks(log))
  tmp.write(".mcp.json", JSON.stringify({ mcpServers: { asking: { type: "http", url: asking.url } } }))
  assert.notEqual((await vitamin(tmp, ["mcp", "test", "asking"])).code, 0)
  assert.deepEqual(asking.tokens, [])
  assert.equal(existsSync(log), false)
})
