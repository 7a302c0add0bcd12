import assert from "node:assert/strict"
import { test } from "node:test"
import { clientFiles } from "../../script/client.ts"
import { tmpdir } from "../fixture/tmpdir.ts"

test("src/client/{types,routes}.ts are as the route table says (node script/client.ts --write)", async () => {
  await using _ = await tmpdir()
  for (const { file, text, expected } of await clientFiles()) assert.equal(text, expected, file)
})
