import assert from "node:assert/strict"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import { login } from "#ability/mcp/login.ts"
import type { AuthToken, MCPClientConfig, MCPServerConfig } from "#ability/mcp/server/types.ts"
import * as Global from "#kernel/process/global.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { type LockedServer, lockedServer } from "../../../fixture/mcp/locked-server.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

test("login() waits for the browser, and stores the tokens readable by their owner only", async () => {
  await using _ = await tmpdir()
  await using locked = await lockedServer()
  const server = serverAt(locked)
  await using client = clientOf({ server })
  await assert.rejects(client.connect(), {
    name: "MCP.LoginNeeded",
    message: /asks for a login\. Run: vitamin mcp login locked/,
  })
  assert.deepEqual(locked.seen, [], "nothing is registered before somebody wants to log in")

  assert.equal(await visit(server), "done")
  assert.deepEqual(locked.seen, ["register", "authorize read", "token authorization_code"])
  assert.equal((await client.callTool("ok")).isError, false)
  assert.equal(await visit(server), "present")

  const file = join(Global.data(), "mcp-auth.json")
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const token = /access-[\w-]+/.exec(readFileSync(file, "utf8"))![0]
  assert.equal(Secret.redact(`it is ${token}`), "it is [mcp login]")
})

test("a token that is refused is refreshed, and the request repeated", async () => {
  await using _ = await tmpdir()
  await using locked = await lockedServer()
  const server = serverAt(locked)
  await visit(server)
  await using client = clientOf({ server })
  await client.connect()
  locked.accepted.clear()
  assert.equal((await client.callTool("ok")).isError, false)
  assert.equal(locked.seen.at(-1), "token refresh_token")
})

test("a token does not go to another address that has the server's name", async () => {
  await using _ = await tmpdir()
  await using locked = await lockedServer()
  await using other = await lockedServer()
  await visit(serverAt(locked))
  await using client = clientOf({ server: serverAt(other) })
  await assert.rejects(client.connect(), { name: "MCP.LoginNeeded" })
  assert.deepEqual(new Set(other.tokens), new Set([undefined]))
})

test("more rights need another login, which includes the old ones; a server that keeps asking is refused", async () => {
  await using _ = await tmpdir()
  await using locked = await lockedServer()
  const server = serverAt(locked)
  await visit(server)
  await using client = clientOf({ server })
  locked.needs = "write"
  await assert.rejects(client.callTool("ok"), { name: "MCP.LoginNeeded", message: /more rights \(write\)/ })
  await visit(server)
  assert.ok(locked.seen.includes("authorize read write"))
  assert.equal((await client.callTool("ok")).isError, false)
  locked.needs = "everything"
  await assert.rejects(client.callTool("ok"), { name: "MCP.LoginNeeded" })
  locked.needs = "even more"
  await assert.rejects(client.callTool("ok"), { name: "MCP.LoginFailed", message: /asked 3 times/ })
})

test("a login whose answer comes from another issuer is refused", async () => {
  await using _ = await tmpdir()
  await using locked = await lockedServer()
  locked.wrongIssuer = "https://evil.example"
  await assert.rejects(visit(serverAt(locked)), { name: "MCP.LoginFailed", message: /issuer/i })
  assert.ok(!locked.seen.includes("token authorization_code"))
})

test("a login that nobody finishes can be cancelled", async () => {
  await using _ = await tmpdir()
  await using locked = await lockedServer()
  const cancel = new AbortController()
  const waiting = login({
    server: serverAt(locked),
    signal: cancel.signal,
    onUrl: () => cancel.abort(new Error("never mind")),
  })
  await assert.rejects(waiting, /never mind/)
})

test("onAuth() gives the token, onAuthRefresh() a new one when it is refused or over, and the request is repeated", async () => {
  await using locked = await lockedServer()
  for (const token of ["first-token", "second-token", "third-token"]) locked.accepted.add(token)
  const refreshed: AuthToken[] = []
  let next = "second-token"
  await using client = clientOf({
    server: serverAt(locked),
    hooks: {
      onAuth: async () => ({ value: "first-token" }),
      onAuthRefresh: async (expired) => {
        refreshed.push(expired)
        return { value: next, ...(next === "second-token" ? { expires: Date.now() - 1 } : {}) }
      },
    },
  })
  await client.connect()
  locked.accepted.delete("first-token")
  assert.equal((await client.callTool("ok")).isError, false)
  assert.deepEqual(refreshed[0], { value: "first-token" })
  next = "third-token"
  assert.equal((await client.callTool("ok")).isError, false)
  assert.equal(refreshed.at(-1)?.value, "second-token")
  assert.equal(locked.tokens.at(-1), "third-token")
})

test("a server for which onAuth() gives nothing gets the token of its login, refreshed", async () => {
  await using _ = await tmpdir()
  await using locked = await lockedServer()
  const server = serverAt(locked)
  await visit(server)
  await using client = clientOf({ server, hooks: { onAuth: async () => undefined } })
  await client.connect()
  assert.match(locked.tokens.at(-1)!, /^access-/)
  locked.accepted.clear()
  assert.equal((await client.callTool("ok")).isError, false)
  assert.equal(locked.seen.at(-1), "token refresh_token")
})

test("a configured token is sent, and its refusal is reported", async () => {
  await using locked = await lockedServer()
  locked.accepted.add("a-configured-token")
  const server = serverAt(locked)
  await using client = clientOf({
    server: { ...server, auth: { type: "bearer", token: "a-configured-token" } },
  })
  assert.equal((await client.connect()).name, "locked")
  await using wrong = clientOf({ server: { ...server, auth: { type: "bearer", token: "another-token" } } })
  await assert.rejects(wrong.connect(), { name: "MCP.Unavailable", message: /Unauthorized/i })
})

test("an answer over http that is too long is refused", async () => {
  await using locked = await lockedServer()
  locked.accepted.add("a-configured-token")
  locked.size = 40 << 20
  const auth = { type: "bearer", token: "a-configured-token" } as const
  await using client = clientOf({ server: { ...serverAt(locked), auth } })
  await assert.rejects(client.callTool("ok"), /a message of more than 33554432 bytes/)
})

function serverAt({ url }: LockedServer): MCPServerConfig {
  return { id: "locked", name: "locked", transport: "http", url }
}

/** As a browser would. */
async function visit(server: MCPServerConfig): Promise<string> {
  const visits: Promise<unknown>[] = []
  try {
    return await login({ server, onUrl: (url) => visits.push(fetch(url)) })
  } finally {
    await Promise.allSettled(visits)
  }
}

function clientOf(config: MCPClientConfig) {
  const client = createMCPClient(config)
  return { ...client, [Symbol.asyncDispose]: client.close }
}
