// Resources of MCP servers as parts of a prompt over HTTP.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import type * as Message from "#knowledge/message/message.ts"
import { mcpJson, officialServer } from "../../ability/mcp/servers.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("a part of type mcp_resource becomes a message, is reused while it is fresh, and may fail", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  await vitamin(tmp, ["trust", "--yes"])
  await using llm = await fakeLlm([text("One."), text("Two."), text("Three.")])
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = child
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  const api = async <T>(method: string, path: string, body?: unknown) => {
    const headers = { authorization, "content-type": "application/json" }
    const response = await fetch(url + path, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: response.status, body: (await response.json()) as T }
  }
  const { id } = (await api<{ id: string }>("POST", "/session", {})).body
  const type = "mcp_resource"
  const resourceUri = "demo://resource/dynamic/text/7"
  const ask = (parts: object[]) => api("POST", `/session/${id}/message`, { parts, asks: "once" })
  const resources = async () => {
    const { body } = await api<Message.Info[]>("GET", `/session/${id}/message`)
    return body.flatMap((message) => (message.type === type ? [message.data] : []))
  }
  const wanted = { type, serverName: "everything", resourceUri }
  assert.equal((await ask([wanted, wanted])).status, 200)
  const [first] = await resources()
  assert.match(first!.content, /^Resource 7: This is a plaintext resource/)
  assert.equal(first!.mimeType, "text/plain")
  assert.ok(first!.retrievedAt > 0)
  assert.equal((await ask([{ type: "text", text: "Again" }, wanted])).status, 200)
  const both = await resources()
  assert.deepEqual(both, [first, first], "with the time at which it was read")
  const none = { type, serverName: "everythin", resourceUri }
  assert.equal((await ask([none, { ...wanted, resourceUri: "demo://none" }])).status, 200)
  const errors = (await resources()).slice(2).map(({ error }) => error)
  assert.match(errors[0]!, /"everythin" does not exist.*Did you mean "everything"\?/)
  assert.match(errors[1]!, /demo:\/\/none/)
  const body = JSON.stringify(llm.requests[2]!.body)
  assert.match(body, /resource demo:\/\/none of everything could not be read/)
  assert.equal((await ask([{ type, serverName: "everything" }])).status, 400)
})
