// `vitamin attach`: a server that disappears in the middle of a turn, and two terminals on one session.
import assert from "node:assert/strict"
import { test } from "node:test"
import { serving } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"
import { openLine } from "./line.ts"

const enter = "\r"
const isReady = /^ask · /m
const count = (whole: string, part: string) => whole.split(part).length - 1

test("attach reports that the server is gone, connects again, and shows what happened meanwhile once", async () => {
  await using tmp = await tmpdir({ git: true })
  const wait = call("bash", { command: "until [ -e go ]; do sleep 0.05; done; echo output of the command" })
  await using llm = await fakeLlm([wait, text("The first answer."), text("The second answer.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using line = await openLine(Number(new URL(server.url).port))
  await using terminal = await openXterm(tmp, ["attach", line.url, "--yes"])
  await terminal.sees(/^yes to all · /m)
  terminal.type(`go${enter}`)
  await terminal.sees(/● Run until/)
  await line.cut()
  await terminal.sees("the server is gone, reconnecting")
  terminal.type("typed meanwhile")
  await terminal.sees("> typed meanwhile")
  tmp.write("go", "")
  while (llm.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
  await line.restore()
  await terminal.sees("The first answer.")
  await terminal.sees(/^yes to all · /m)
  terminal.type(enter)
  await terminal.sees("The second answer.")
  await terminal.misses(/working/)
  for (const part of [
    "▌ go",
    "Run until",
    "\n  output of the command",
    "The first answer.",
    "▌ typed meanwhile",
  ])
    assert.equal(count(terminal.all(), part), 1, `${part}\n${terminal.all()}`)
})

test("two terminals on one session both show it, and a question that one answers leaves the other", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    text("The first answer."),
    call("bash", { command: "touch made" }),
    text("The second answer."),
    text("The third answer."),
  ])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using one = await openXterm(tmp, ["attach", server.url])
  await one.sees(isReady)
  one.type(`one${enter}`)
  await one.sees("The first answer.")
  await one.sees(isReady)
  await using two = await openXterm(tmp, ["attach", server.url, "-c"], { columns: 60, rows: 20 })
  await two.sees("The first answer.")
  await two.sees(isReady)
  two.type(`two${enter}`)
  await two.sees("[y]es")
  await one.sees("[y]es")
  one.type("y")
  await one.sees("The second answer.")
  await two.sees("The second answer.")
  await two.misses(/\[y\]es/)
  await one.sees(isReady)
  one.type(`three${enter}`)
  await two.sees("The third answer.")
  await one.sees("The third answer.")
  for (const terminal of [one, two]) await terminal.sees(isReady)
  for (const terminal of [one, two])
    for (const part of [
      "▌ one",
      "▌ two",
      "▌ three",
      "The first answer.",
      "The second answer.",
      "Run touch made",
    ])
      assert.equal(count(terminal.all(), part), 1, `${part}\n${terminal.all()}`)
})
