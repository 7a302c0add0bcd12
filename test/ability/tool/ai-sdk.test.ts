// The `tools` object for the AI SDK fits the SDK's types, and the SDK reads its schemas correctly.
import assert from "node:assert/strict"
import { test } from "node:test"
import { asSchema, type ToolSet } from "@ai-sdk/provider-utils"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { inProject } from "./harness.ts"

test("ToolRegistry.toAISDKTools() returns tools without execute, because only the gate runs tools", async () => {
  await inProject(async () => {
    const tools = ToolRegistry.toAISDKTools(["read", "ls"])
    const typed: ToolSet = tools
    assert.deepEqual(Object.keys(typed), ["ls", "read"])
    assert.equal("execute" in typed.read!, false)
    const schema = asSchema(tools.read!.inputSchema)
    const json = (await schema.jsonSchema) as { properties: object; required: string[] }
    assert.deepEqual(Object.keys(json.properties), ["path", "startLine", "endLine"])
    assert.deepEqual(json.required, ["path"])
    assert.equal((await schema.validate!({ path: "a" })).success, true)
    assert.equal((await schema.validate!({ path: 1 })).success, false)
  })
})
