// What servers offer, in one index file that several processes share, each with its own servers.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { createCatalog } from "#ability/mcp/registry/create-catalog.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: "object" } })

test("items that another process removed from the file are found again", async () => {
  await using tmp = await tmpdir()
  const path = join(tmp.path, "tools.db")
  const one = createCatalog({ path })
  const other = createCatalog({ path })
  const find = async (catalog: typeof one, words: string) =>
    (await catalog.search("tool", words, { limit: 1 })).map(({ item }) => item.name)
  one.put("tool", tool("melt_gold", "Melts gold"), "smithy")
  assert.deepEqual(await find(one, "melt gold"), ["melt_gold"])
  for (let i = 0; i < 20; i++) other.put("tool", tool(`melt_${i}`, "Melts gold and all else"), "forge")
  assert.equal((await find(other, "melt gold")).length, 1)
  assert.deepEqual(await find(one, "gold that must be molten"), ["melt_gold"])
  assert.equal((await find(other, "molten gold, please")).length, 1)
  await one.close()
  await other.close()
})
