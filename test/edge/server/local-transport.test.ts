import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { test } from "node:test"
import { fileURLToPath } from "node:url"

const file = fileURLToPath(new URL("../../../src/edge/server/local-transport.ts", import.meta.url))

/** Prints the modules that are loaded by calls over the local transport. */
const program = `
import { registerHooks } from "node:module"
const loaded = []
registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
const { createLocalTransport } = await import(process.argv[1])
const { createClient } = await import("#client/client.ts")
const transport = createLocalTransport({ directory: process.cwd() })
const client = createClient(transport)
await client.getInfo()
await client.listSessions()
await transport.close()
console.log(JSON.stringify(loaded))
`

test("calls over the local transport load no Hono", () => {
  const args = ["--input-type=module", "--eval", program, file]
  const loaded = JSON.parse(
    execFileSync(process.execPath, args, { encoding: "utf8", stdio: "pipe" }),
  ) as string[]
  assert.ok(loaded.some((url) => url.endsWith("/routes/session-routes.ts")))
  assert.deepEqual(
    loaded.filter((url) => /node_modules\/(@hono|hono)\//.test(url)),
    [],
  )
})
