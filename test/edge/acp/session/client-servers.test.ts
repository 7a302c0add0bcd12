// An editor's MCP servers as configuration entries.
import assert from "node:assert/strict"
import { test } from "node:test"
import { clientServers } from "#edge/acp/session/client-servers.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

test("clientServers() gives each name its own id, in any script", async () => {
  await using tmp = await tmpdir()
  const names = ["日本", "中国", "a b", "a-b", "db"]
  const servers = names.map((name) => ({ name, command: "x", args: [], env: [] }))
  try {
    const fn = () => clientServers(servers, { method: "session/new" })
    const brought = await Instance.provide({ directory: tmp.path, fn })
    const ids = brought.map(({ id }) => id)
    assert.equal(new Set(ids).size, names.length)
    assert.deepEqual(ids.slice(3), ["a-b", "db"])
    for (const id of ids) assert.match(id, /^[\w-]*[a-z\d][\w-]*$/)
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
})
