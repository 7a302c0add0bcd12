// Parts of the page that are loaded when they are first shown.
import assert from "node:assert/strict"
import { test } from "node:test"
import { openPage } from "./harness.ts"

test("a view and a panel whose code could not be loaded are loaded by Try again", async () => {
  await using t = await openPage([])
  const { id } = await t.client.createSession({})
  for (const [file, path, shown] of [
    ["events-view", "#/events", "No event yet"],
    ["session-view", `#/session/${id}`, "Nothing here yet"],
    ["context-panel", `#/session/${id}/context`, "System prompt"],
  ] as const) {
    let refused = 0
    await t.page.route(new RegExp(`/assets/${file}`), (route) =>
      refused++ ? route.continue() : route.fulfill({ status: 503, body: "" }),
    )
    await t.page.goto(`${t.url}/${path}`)
    const again = t.page.getByRole("button", { name: "Try again" })
    await again.waitFor()
    assert.equal(refused, 1)
    await again.press("Enter")
    await t.page.getByText(shown).first().waitFor()
    assert.equal(refused, 2)
    await t.page.unrouteAll()
  }
  assert.deepEqual(t.faults, [])
})
