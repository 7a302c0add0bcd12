// The OpenAPI document of the server.
import assert from "node:assert/strict"
import { test } from "node:test"
import { setUp } from "../app-harness.ts"
import "../harness.ts"

test("GET /openapi.json describes every route from its schemas, and the event types", async () => {
  await using t = await setUp()
  const document = JSON.parse(await (await t.ask("/openapi.json")).text())
  assert.equal(document.openapi, "3.1.0")
  assert.deepEqual(Object.keys(document.paths).sort(), [
    "/audit",
    "/browser",
    "/browser/code",
    "/browser/{id}",
    "/config",
    "/echo/{id}",
    "/event",
    "/fail/{how}",
    "/health",
    "/info",
    "/openapi.json",
    "/session/{id}/share",
    "/token",
    "/token/{name}",
  ])
  const { post } = document.paths["/echo/{id}"]
  assert.deepEqual(post.parameters[0], {
    name: "id",
    in: "path",
    required: true,
    schema: { type: "string", maxLength: 5 },
  })
  assert.equal(post.requestBody.content["application/json"].schema.properties.parts.type, "array")
  const statusesAt = ({ responses }: { responses: object }) => Object.keys(responses).map(Number)
  const always = [400, 403, 408, 413, 417, 421, 431, 500, 502]
  assert.deepEqual(statusesAt(document.paths["/health"].get), [200, ...always])
  assert.deepEqual(statusesAt(document.paths["/info"].get), [200, ...always, 401].sort())
  assert.deepEqual(statusesAt(post), [200, ...always, 401, 404, 415].sort())
  const { $ref } = post.responses[404]
  assert.equal($ref, "#/components/responses/NotFound")
  assert.equal(document.components.responses.NotFound.description, "Does not exist")
  assert.deepEqual(document.paths["/health"].get.security, [])
  const { mapping } = document.components.schemas.Event.discriminator
  assert.equal(mapping["test.tick"], "#/components/schemas/TestTickEvent")
  assert.ok(mapping["instance.disposed"])
})
