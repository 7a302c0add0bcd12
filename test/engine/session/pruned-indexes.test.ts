// Indexes of removed folders are deleted from the cache when an instance that used indexes ends.
import assert from "node:assert/strict"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { Instance } from "#kernel/instance.ts"
import { text } from "../../fixture/fake-llm.ts"
import { inWorld } from "./harness.ts"
import { loadMany } from "./many.ts"

test("when an instance ends, indexes of removed folders are deleted, and its own are kept", async () => {
  await inWorld([text("done")], async ({ ask, tmp }) => {
    const cache = join(tmp.path, "../cache/vitamin")
    for (const kind of ["discovery", "rules"]) {
      mkdirSync(join(cache, kind), { recursive: true })
      writeFileSync(join(cache, kind, "stale.db"), "")
      writeFileSync(join(cache, kind, "stale.db.used"), join(tmp.path, "../gone"))
    }
    tmp.write("AGENTS.md", "# Rules\n\n[How we deploy](docs/deploy.md)\n")
    tmp.write("docs/deploy.md", "# Deploying\n\nAsk the captain.\n")
    await loadMany()
    await ask("Create a refund for Ada, and how do we deploy?")
    const filesIn = (kind: string) => readdirSync(join(cache, kind))
    for (const kind of ["discovery", "rules"])
      assert.ok(filesIn(kind).includes("stale.db"), "nobody waits for it")
    await Instance.dispose()
    for (const kind of ["discovery", "rules"]) {
      assert.ok(!filesIn(kind).some((name) => name.startsWith("stale")), filesIn(kind).join())
      assert.ok(filesIn(kind).some((name) => /[0-9a-f]{40}\.db$/.test(name)))
      assert.ok(filesIn(kind).some((name) => /[0-9a-f]{40}\.db\.used$/.test(name)))
    }
  })
})
