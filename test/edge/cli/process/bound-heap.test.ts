import assert from "node:assert/strict"
import { test } from "node:test"
import { runFixture } from "../../../fixture/child.ts"

test("boundHeap() limits the young generation of V8 to 34 MB", async () => {
  const [bounded, free] = [await youngSize("bounded"), await youngSize("free")]
  assert.ok(bounded <= 34, `${bounded} MB`)
  assert.ok(free > 34, `${free} MB`)
})

async function youngSize(mode: string): Promise<number> {
  await using child = runFixture("young-garbage.ts", { args: [mode] })
  assert.equal(await child.exit, 0, child.errors())
  return Number(child.lines[0])
}
