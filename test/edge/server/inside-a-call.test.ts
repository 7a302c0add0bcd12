// A server that a command of the model starts: it grants no trust and stores no keys.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { ClientError, createClient, createHttpTransport } from "#client/client.ts"
import { run } from "../../fixture/child.ts"
import { command } from "../../fixture/cli.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("a server inside a command that vitamin runs refuses to trust files and to store keys", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".vitamin/config.jsonc", '{ "permission": [] }\n')
  await using server = run(process.execPath, [command, "serve", "--port", "0"], {
    cwd: tmp.path,
    env: { ...tmp.env, VITAMIN_CALL: "call" },
  })
  const [, url, file] = /listening on (\S+) \(token in (.+)\)/.exec(await server.line(/listening on/))!
  const token = readFileSync(file!, "utf8").trim()
  const client = createClient(createHttpTransport({ url: url!, token, directory: tmp.path }))
  const refused = (name: string) => (error: unknown) => error instanceof ClientError && error.name === name
  await assert.rejects(client.storeKey({ id: "groq", key: "gsk-1" }), refused("Provider.Denied"))
  await assert.rejects(
    client.trustFiles({ files: [{ path: ".vitamin/config.jsonc" }] }),
    refused("Trust.Denied"),
  )
})
