// The description that the server gives of itself.
import assert from "node:assert/strict"
import { test } from "node:test"
import { statuses } from "#edge/server/statuses.ts"
import { setUp } from "./app-harness.ts"
import "./harness.ts"

test("GET /openapi.json describes every route from its schemas, and the event types", async () => {
  await using t = await setUp()
  const document = JSON.parse(await (await t.ask("/openapi.json")).text())
  assert.equal(document.openapi, "3.1.0")
  assert.deepEqual(Object.keys(document.paths).sort(), [
    "/config",
    "/echo/{id}",
    "/event",
    "/fail/{how}",
    "/health",
    "/info",
    "/openapi.json",
  ])
  const { post } = document.paths["/echo/{id}"]
  assert.deepEqual(post.parameters[0], {
    name: "id",
    in: "path",
    required: true,
    schema: { type: "string", maxLength: 5 },
  })
  assert.equal(post.requestBody.content["application/json"].schema.properties.parts.type, "array")
  assert.ok(post.responses["404"])
  assert.equal(document.paths["/info"].get.responses["404"], undefined)
  for (const status of [400, 401, 403, 405, 408, 413, 415, 421, 431, 500])
    assert.equal(
      document.paths["/info"].get.responses[status].description,
      statuses.find((row) => row.status === status)?.meaning,
      String(status),
    )
  assert.deepEqual(document.paths["/health"].get.security, [])
  const types = document.components.schemas.Event.oneOf.map(
    (one: { properties: { type: { const: string } } }) => one.properties.type.const,
  )
  assert.ok(types.includes("instance.disposed") && types.includes("test.tick"))
})
