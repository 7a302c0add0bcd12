// docs/scale.md has what the simulation prints.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { fileURLToPath } from "node:url"

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

test("the table of docs/scale.md is the output of bench/scale-simulation.ts", () => {
  const table = execFileSync(process.execPath, [path("bench/scale-simulation.ts")], { encoding: "utf8" })
  assert.ok(table.split("\n").length > 8, table)
  assert.ok(readFileSync(path("docs/scale.md"), "utf8").includes(table), table)
})
