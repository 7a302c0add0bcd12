// The real process that serves stories; only the clock of its parent is set by the test.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { test } from "node:test"
import { startServer } from "#ability/world/start-server.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

test("modules() fails by name if the process that serves stories does not answer in a minute", async (t) => {
  await using tmp = await tmpdir()
  tmp.write("a.stories.ts", `import "./b.ts"`)
  tmp.write("b.ts", "export {}")
  const server = await startServer({ root: tmp.path })
  t.after(() => server.close())
  t.mock.timers.enable({ apis: ["setTimeout"] })
  assert.deepEqual(await server.modules("a.stories.ts"), { files: ["a.stories.ts", "b.ts"], problems: [] })
  // A question that was answered has no limit left.
  t.mock.timers.tick(60_000)
  const [asked, other] = [server.modules("a.stories.ts"), server.modules("a.stories.ts")]
  // No message arrives during a tick.
  t.mock.timers.tick(60_000)
  const failure = { name: "World.ServerFailed", message: /did not answer in 60 s/ }
  await Promise.all([assert.rejects(asked, failure), assert.rejects(other, failure)])
})

test("modules() names a story that is gone or a pipe, and the server goes on", async () => {
  await using tmp = await tmpdir()
  tmp.write("a.stories.ts", "export {}")
  execFileSync("mkfifo", [join(tmp.path, "pipe.stories.ts")])
  const server = await startServer({ root: tmp.path })
  try {
    const [gone, pipe, outside] = await Promise.all(
      ["gone.stories.ts", "pipe.stories.ts", "../outside.stories.ts"].map(server.modules),
    )
    assert.match(gone!.problems.join(), /^gone\.stories\.ts: ENOENT/)
    assert.match(pipe!.problems.join(), /^pipe\.stories\.ts: Path "pipe\.stories\.ts" cannot be used/)
    assert.match(outside!.problems.join(), /is outside of/)
    assert.deepEqual((await server.modules("a.stories.ts")).problems, [])
  } finally {
    server.close()
  }
})
