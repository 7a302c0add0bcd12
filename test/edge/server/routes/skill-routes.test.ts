// The skills of a project over HTTP.
import assert from "node:assert/strict"
import { cpSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { skillRoutes } from "#edge/server/routes/skill-routes.ts"
import { auth, base } from "../app-harness.ts"
import { appWith } from "../app-with.ts"

const fixture = fileURLToPath(new URL("../../../fixture/skills", import.meta.url))

test("GET /skill returns the skills of the request's directory, and is in the OpenAPI document", async () => {
  await using world = await appWith(skillRoutes())
  const { tmp, app } = world
  cpSync(join(fixture, "release-notes"), join(tmp.path, "skills/release-notes"), { recursive: true })
  tmp.write("../config/vitamin/skills/mine.md", "---\nname: mine\ndescription: x\n---\ny\n")
  const get = (path: string) => app.request(base + path, { headers: auth })
  const response = await get("/skill")
  assert.equal(response.status, 200)
  const [first, second] = (await response.json()) as Record<string, unknown>[]
  assert.deepEqual(
    [first!.name, first!.isOwn, second!.name, second!.isOwn],
    ["release-notes", false, "mine", true],
  )
  assert.deepEqual(
    (first!.references as { displayText: string }[]).map(({ displayText }) => displayText),
    ["How to choose what is worth a line", "breaking changes and how to move on"],
  )
  assert.equal((first!.scripts as unknown[]).length, 1)
  assert.equal(first!.body, undefined, "the instructions stay on the disk")
  assert.equal((await app.request(`${base}/skill`)).status, 401)
  const document = (await (await get("/openapi.json")).json()) as { paths: Record<string, unknown> }
  assert.ok(document.paths["/skill"])
})
