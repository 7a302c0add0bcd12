// Leaving an attached terminal, and prompts that come back into the editor.
import assert from "node:assert/strict"
import { test } from "node:test"
import { serving } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { png } from "../../fixture/png.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"

const enter = "\r"
const [esc, ctrlD, altUp] = ["\u001b", "\u0004", "\u001b[1;3A"]
const wait = call("bash", { command: "until [ -e go ]; do sleep 0.05; done; echo went" })

for (const args of [[], ["--plain"]])
  test(`a terminal that leaves a server lets the turn go on, and another one sees its end ${args}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([wait, text("The answer.")])
    const server = await serving(tmp, [], env(llm, "chat").variables)
    await using _ = server.child
    await using one = await openXterm(tmp, ["attach", server.url, "--yes", ...args])
    await one.sees(/^(yes to all · |> ?$)/m)
    one.type(`wait${enter}`)
    await one.sees(args.length ? "▌ wait" : "● Run until")
    await using two = await openXterm(tmp, ["attach", server.url, "-c"])
    await two.sees("Run until")
    one.type(ctrlD)
    assert.equal(await one.exit, 0)
    assert.match(one.all(), /The turn goes on at http:/)
    assert.match(one.all(), /Go on with: vitamin attach http:\S+ (--plain )?--session sess_/)
    tmp.write("go", "")
    await two.sees("The answer.")
    assert.doesNotMatch(two.all(), /stopped/)
  })

test("Escape in an attached terminal stops the turn for all that watch it", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([wait])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using one = await openXterm(tmp, ["attach", server.url, "--yes"])
  await one.sees(/^yes to all · /m)
  one.type(`wait${enter}`)
  await one.sees("● Run until")
  await using two = await openXterm(tmp, ["attach", server.url, "-c"])
  await two.sees("Run until")
  one.type(esc)
  await one.sees("· stopped")
  await two.sees("· stopped")
})

test("a prompt that was taken back keeps its images, also two of one name, and sends them later", async () => {
  await using tmp = await tmpdir({ git: true })
  for (const folder of ["a", "b"]) tmp.write(`${folder}/shot.png`, png({ width: 8, height: 8 }))
  await using llm = await fakeLlm([wait, text("The first answer."), text("The second answer.")])
  await using terminal = await openXterm(tmp, ["--yes"], { env: env(llm, "chat").variables })
  await terminal.sees(/^yes to all · /m)
  terminal.type(`wait${enter}`)
  await terminal.sees("● Run until")
  for (const folder of ["a", "b"]) terminal.type(`\u001b[200~${tmp.path}/${folder}/shot.png\u001b[201~`)
  terminal.type(`compare${enter}`)
  await terminal.sees("waits: [image shot.png] [image shot.png] compare")
  terminal.type(altUp)
  await terminal.sees("> [image shot.png] [image shot.png] compare")
  tmp.write("go", "")
  await terminal.sees("The first answer.")
  await terminal.sees(/^yes to all · /m)
  terminal.type(enter)
  await terminal.sees("The second answer.")
  assert.equal(terminal.all().split("[image shot.png 8×8 PNG").length - 1, 2)
})
