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

test("clientServers() adds the servers of every session, except those that the client replaces", async () => {
  await using tmp = await tmpdir()
  const given = ["files", "db"].map((id) => ({ id, name: id, transport: "stdio" as const, command: [id] }))
  const servers = [{ name: "db", command: "mine", args: [], env: [] }]
  try {
    const fn = () => clientServers(servers, { method: "session/new", given })
    const all = await Instance.provide({ directory: tmp.path, fn })
    assert.deepEqual(
      all.map(({ id, source, entry }) => [id, source, (entry as { command: string[] }).command]),
      [
        ["files", "the ACP adapter", ["files"]],
        ["db", "ACP session/new", ["mine"]],
      ],
    )
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
})
