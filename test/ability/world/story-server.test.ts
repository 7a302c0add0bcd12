// The process that serves stories, over its real socket.
import assert from "node:assert/strict"
import { test } from "node:test"
import { startServer } from "#ability/world/start-server.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("the story server gives files only to requests with its token", async () => {
  await using tmp = await tmpdir()
  tmp.write("data.json", '{"private":1}')
  tmp.write("a.stories.ts", 'export const a = { intent: "A" }')
  const server = await startServer({ root: tmp.path })
  try {
    for (const path of ["/data.json", "/a.stories.ts", "/a.stories.ts?page"]) {
      const ask = (headers: Record<string, string>) => fetch(server.origin + path, { headers })
      const refused = [await ask({}), await ask({ "x-vitamin-stories": "0".repeat(server.token.length) })]
      for (const { status } of refused) assert.equal(status, 403, path)
      assert.equal((await ask({ "x-vitamin-stories": server.token })).status, 200, path)
    }
  } finally {
    server.close()
  }
})
