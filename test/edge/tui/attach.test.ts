// `vitamin attach`: the interactive terminal on a server, with the server's token.
import assert from "node:assert/strict"
import { test } from "node:test"
import { run } from "../../fixture/child.ts"
import { command, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { openXterm } from "../../fixture/xterm.ts"

const isReady = /^ask · /m

test("two terminals on one session of a server show the same, and either answers a question", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "touch made" }), text("It is **made**.")])
  const { variables } = env(llm, "chat")
  await using server = run(process.execPath, [command, "serve", "--port", "0"], {
    cwd: tmp.path,
    env: { ...tmp.env, ...variables },
  })
  const [url] = /http:\S+/.exec(await server.line(/listening on/))!
  await using one = await openXterm(tmp, ["attach", url!, "--dir", tmp.path])
  await one.sees(isReady)
  one.type("make it\r")
  await one.sees(/May bash do this\?/)
  await using two = await openXterm(tmp, ["attach", url!, "-c", "--dir", tmp.path])
  await two.sees(/▌ make it.*May bash do this\?/s)
  two.type("y")
  await one.sees("It is made.")
  await two.sees("It is made.")
  await one.sees(isReady)
  assert.doesNotMatch(one.screen(), /May bash|waits:/)
})

test("attach without a server, and with a wrong token, says so and ends", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  await llm.down()
  await using terminal = await openXterm(tmp, ["attach", llm.url])
  assert.equal(await terminal.exit, 1, terminal.all())
  assert.match(terminal.all(), /The server at http:\/\/127\.0\.0\.1:\d+ cannot be reached/)
  await using server = run(process.execPath, [command, "serve", "--port", "0"], {
    cwd: tmp.path,
    env: tmp.env,
  })
  const [url] = /http:\S+/.exec(await server.line(/listening on/))!
  await using wrong = await openXterm(tmp, ["attach", url!], { env: { VITAMIN_TOKEN: "wrong" } })
  assert.equal(await wrong.exit, 1, wrong.all())
  assert.match(wrong.all(), /token/)
})

test("attach needs a terminal", async () => {
  await using tmp = await tmpdir()
  const { code, err } = await vitamin(tmp, ["attach"])
  assert.equal(code, 2)
  assert.match(err, /needs a terminal/)
})
