// An MCP server over http that answers with redirects: tokens, headers and requests stay with its origin.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import * as LoginFile from "#ability/mcp/login/login-file.ts"
import type { MCPServerConfig } from "#ability/mcp/server/types.ts"
import { originOf, redirecting, statuses } from "../../../fixture/redirecting.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const token = "mcp-token-0123456789"

function serverAt(url: string): MCPServerConfig {
  return {
    id: "moved",
    name: "moved",
    transport: "http",
    url: `${url}/mcp`,
    auth: { type: "bearer", token },
    headers: { cookie: "session=0123456789", "x-key": "a-header-key" },
  }
}

async function connectTo(server: MCPServerConfig): Promise<unknown> {
  const client = createMCPClient({ server })
  try {
    return await client.connect()
  } finally {
    await client.close()
  }
}

test("a server that redirects to another origin is refused, and nothing is sent there", async () => {
  await using _ = await tmpdir()
  await using other = await originOf()
  for (const status of statuses) {
    await using server = await redirecting(status, (path) => other.url + path)
    await assert.rejects(connectTo(serverAt(server.url)), {
      message: new RegExp(
        `^MCP server "moved" is not available: ${server.url} redirects \\(${status}\\) to another origin, ${other.url}\\..* set the url of the MCP server "moved" to its address\\.$`,
      ),
    })
    assert.match(JSON.stringify(server.heard), new RegExp(token))
  }
  assert.deepEqual(other.heard, [])
})

test("a redirect within the origin keeps the method, the token and the body", async () => {
  await using _ = await tmpdir()
  await using other = await originOf()
  await using server = await originOf((request, response) => {
    const next = request.url === "/mcp" ? "/moved" : `${other.url}/mcp`
    response.writeHead(307, { location: next }).end()
  })
  await assert.rejects(connectTo(serverAt(server.url)), { name: "MCP.Unavailable" })
  const [first, second] = server.heard
  assert.deepEqual([first!.path, second!.path], ["/mcp", "/moved"])
  assert.equal(second!.body, first!.body)
  assert.equal(second!.headers.authorization, `Bearer ${token}`)
  assert.deepEqual(other.heard, [])
})

test("a refresh of a login does not follow the token endpoint to another origin", async () => {
  await using _ = await tmpdir()
  await using other = await originOf()
  for (const status of statuses) {
    await using server = await originOf((request, response) => {
      const json = (value: object, code = 200) =>
        response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(value))
      const issuer = `http://${request.headers.host}`
      if (request.url === "/token") response.writeHead(status, { location: `${other.url}/token` }).end()
      else if (request.url?.startsWith("/.well-known/oauth-protected-resource"))
        json({ resource: `${issuer}/mcp`, authorization_servers: [issuer] })
      else if (request.url?.startsWith("/.well-known/oauth-authorization-server"))
        json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["client_secret_post"],
        })
      else json({}, 401)
    })
    const url = `${server.url}/mcp`
    await LoginFile.update(url, () => ({
      issuer: server.url,
      issuers: {
        [server.url]: {
          client: {
            issuer: server.url,
            client_id: "us",
            client_secret: "client-secret-0123456789",
            token_endpoint_auth_method: "client_secret_post",
            redirect_uris: ["http://127.0.0.1/callback"],
          },
          tokens: {
            issuer: server.url,
            access_token: "old-access-0123456789",
            refresh_token: "refresh-token-0123456789",
            token_type: "Bearer",
          },
        },
      },
    }))
    await assert.rejects(connectTo({ id: "moved", name: "moved", transport: "http", url }))
    const asked = server.heard.find(({ path }) => path === "/token")
    assert.match(asked?.body ?? "", /refresh-token-0123456789/)
  }
  assert.deepEqual(other.heard, [])
})
