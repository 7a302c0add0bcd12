// Attempts to get out of a boundary, as root and as an ordinary user. None may succeed.
import assert from "node:assert/strict"
import { after, before, describe, test } from "node:test"
import { type Probe, probes } from "./probes.ts"
import { createWorld, type World, whyNot } from "./world.ts"

for (const as of ["root", "user"] as const) {
  const reason = whyNot(as)
  describe(`a program in the sandbox, as ${as === "root" ? "root" : "an ordinary user"},`, {
    skip: reason ?? false,
  }, () => {
    let world: World
    before(async () => {
      world = await createWorld(as)
    })
    after(() => world[Symbol.asyncDispose]())

    test("works in its folder, and sees that it is isolated", async () => {
      const { out, errors, status } = await world.inside(
        `echo x >free-file && cat free-file README.md && git status --short && ls /tmp && id -u`,
      )
      assert.deepEqual(out.split("\n").slice(0, 2), ["x", "# project"], errors)
      assert.equal(status!.isolated, true)
      assert.equal(status!.user === "root", as === "root")
      assert.equal(
        status!.missing.some((text) => text.includes("root")),
        as === "root",
      )
    })

    for (const probe of probes)
      test(`cannot ${probe.title}`, async () => {
        if (probe.works)
          assert.match(await world.outside(probe.script), /ESCAPED/, "the probe does not work outside either")
        await runProbe(world, probe)
      })
  })
}

async function runProbe(world: World, { script, policy, exceeded, viaProxy }: Probe): Promise<void> {
  const allowedDomains = viaProxy ? [`localhost:${world.variables.ALLOWED}`, "localhost"] : []
  const result = await world.inside(script, { allowedDomains, ...policy })
  const all = JSON.stringify(result, null, 2)
  assert.doesNotMatch(result.out, /ESCAPED/, all)
  assert.doesNotMatch(result.errors, /Sandbox\.NotIsolated/, all)
  if (exceeded) assert.ok([exceeded, "time"].includes(result.exceeded!), all)
  else assert.match(result.out, /held/, all)
  assert.deepEqual(world.damage(), [])
}
