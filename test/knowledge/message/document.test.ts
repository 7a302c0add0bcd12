// docs/messages.md and the JSON schema say what the code does.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import * as Message from "#knowledge/message/message.ts"
import { examples, render } from "../../../script/messages.ts"

type Schema = { oneOf: { properties: Record<string, { const?: string }>; required: string[] }[] }

test("docs/messages.md is up to date (node script/messages.ts --write)", () => {
  const document = readFileSync(new URL("../../../docs/messages.md", import.meta.url), "utf8")
  assert.equal(document, render())
})

test("docs/messages.md has a section, a described field and an example for every type", () => {
  const document = render()
  for (const [type, example] of Object.entries(examples)) {
    const section = document.split(`\n## ${type}\n`)[1]?.split("\n## ")[0] ?? ""
    assert.ok(section.includes("| `data."), type)
    assert.deepEqual(Message.parse(/```json\n([\s\S]*?)\n```/.exec(section)?.[1]), example)
  }
})

test("Message.jsonSchema() has every type, with what it requires", () => {
  const { oneOf } = Message.jsonSchema() as unknown as Schema
  const types = oneOf.map(({ properties }) => properties.type?.const)
  assert.deepEqual(types.sort(), Object.keys(examples).sort())
  for (const { required } of oneOf) assert.deepEqual(required, ["id", "sessionId", "schema", "type", "data"])
  assert.deepEqual(JSON.parse(JSON.stringify(Message.jsonSchema())), Message.jsonSchema())
})
