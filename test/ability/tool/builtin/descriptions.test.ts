import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { descriptions } from "#ability/tool/builtin/descriptions.ts"
import {
  descriptionsFile,
  drawDescriptions,
  drawSchemas,
  schemasFile,
} from "../../../../script/descriptions.ts"

test("descriptions.ts equals the .md files (node script/descriptions.ts --write updates it)", () => {
  assert.equal(readFileSync(descriptionsFile, "utf8"), drawDescriptions())
  const source = new URL("../../../../src/ability/tool/builtin/read.md", import.meta.url)
  assert.equal(descriptions.read, readFileSync(source, "utf8").trim())
})

test("the parameters of the built-in tools are the ones of their schemas", () => {
  assert.equal(readFileSync(schemasFile, "utf8"), drawSchemas())
})
