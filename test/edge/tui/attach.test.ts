// `vitamin attach`: the interactive terminal on a server, with the server's token.
import assert from "node:assert/strict"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { run } from "../../fixture/child.ts"
import { command, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
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
  await one.sees(/Run this command\?/)
  await using two = await openXterm(tmp, ["attach", url!, "-c", "--dir", tmp.path])
  await two.sees(/▌ make it.*Run this command\?/s)
  two.type("y")
  await one.sees("It is made.")
  await two.sees("It is made.")
  await one.sees(isReady)
  assert.doesNotMatch(one.screen(), /May bash|waits:/)
})

test("a server that is killed and started again: the turn is over, and a prompt that could not be sent is kept", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "sleep 600" }), text("Here again.")])
  const place = { cwd: tmp.path, env: { ...tmp.env, ...env(llm, "chat").variables } }
  await using first = run(process.execPath, [command, "serve", "--port", "0"], place)
  const [url] = /http:\S+/.exec(await first.line(/listening on/))!
  await using terminal = await openXterm(tmp, ["attach", url!, "--dir", tmp.path])
  await terminal.sees(isReady)
  terminal.type("wait\r")
  await terminal.sees(/\[y\]es/)
  terminal.type("y")
  await terminal.sees("● Run sleep 600")
  first.process.kill("SIGKILL")
  await terminal.sees("the server is gone")
  terminal.type("still there?\r")
  await terminal.sees(/cannot be reached.*^> still there\?$/ms)
  await using second = run(process.execPath, [command, "serve", "--port", new URL(url!).port], place)
  await second.line(/listening on/)
  await terminal.sees(isReady)
  await terminal.sees("· stopped")
  terminal.type("\r")
  await terminal.sees("Here again.")
})

for (const args of [[], ["--plain"]])
  test(`Ctrl-D leaves in the middle of a turn although the server is frozen ${args}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([call("bash", { command: "sleep 600" })])
    const place = { cwd: tmp.path, env: { ...tmp.env, ...env(llm, "chat").variables } }
    await using server = run(process.execPath, [command, "serve", "--port", "0"], place)
    const [url] = /http:\S+/.exec(await server.line(/listening on/))!
    await using terminal = await openXterm(tmp, ["attach", url!, "--dir", tmp.path, "--yes", ...args])
    await terminal.sees(/^(yes to all · |> ?$)/m)
    terminal.type("wait\r")
    await terminal.sees("▌ wait")
    server.process.kill("SIGSTOP")
    try {
      terminal.type("\u0004")
      assert.equal(await terminal.exit, 0)
      assert.match(terminal.all(), /Go on with/)
    } finally {
      server.process.kill("SIGCONT")
    }
  })

test("--plain: after a restart of the server the lost turn is over, and the next prompt is answered", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "sleep 600" }), text("Here again.")])
  const place = { cwd: tmp.path, env: { ...tmp.env, ...env(llm, "chat").variables } }
  await using first = run(process.execPath, [command, "serve", "--port", "0"], place)
  const [url] = /http:\S+/.exec(await first.line(/listening on/))!
  await using terminal = await openXterm(tmp, ["attach", url!, "--dir", tmp.path, "--yes", "--plain"])
  await terminal.sees(/^> ?$/m)
  terminal.type("wait\r")
  await until(() => llm.requests.length > 0, "the turn")
  first.process.kill("SIGKILL")
  await terminal.sees("The server is gone.")
  await using second = run(process.execPath, [command, "serve", "--port", new URL(url!).port], place)
  await second.line(/listening on/)
  await terminal.sees(/Connected again\..*stopped.*^> ?$/ms)
  terminal.type("still there?\r")
  await terminal.sees("Here again.")
})

test("attach without a server, and with a wrong token, says so and ends", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([])
  await llm.down()
  for (const args of [[], ["--plain"]]) {
    await using first = await openXterm(tmp, ["attach", llm.url, ...args])
    assert.equal(await first.exit, 1, first.all())
    assert.match(first.all(), /No server was started here\. Run vitamin serve, or set VITAMIN_TOKEN\./)
  }
  assert.ok(!existsSync(join(tmp.env.XDG_STATE_HOME!, "vitamin", "token")))
  await using terminal = await openXterm(tmp, ["attach", llm.url], { env: { VITAMIN_TOKEN: "any" } })
  assert.equal(await terminal.exit, 1, terminal.all())
  assert.match(terminal.all(), /The server at http:\/\/127\.0\.0\.1:\d+ cannot be reached/)
  await using plain = await openXterm(tmp, ["attach", llm.url, "--plain"], { env: { VITAMIN_TOKEN: "any" } })
  assert.equal(await plain.exit, 1, plain.all())
  assert.match(plain.all(), /The server at http:\/\/127\.0\.0\.1:\d+ cannot be reached/)
  await using server = run(process.execPath, [command, "serve", "--port", "0"], {
    cwd: tmp.path,
    env: tmp.env,
  })
  const [url] = /http:\S+/.exec(await server.line(/listening on/))!
  await using wrong = await openXterm(tmp, ["attach", url!], { env: { VITAMIN_TOKEN: "wrong" } })
  assert.equal(await wrong.exit, 1, wrong.all())
  assert.match(wrong.all(), /token/)
})

test("attach sends the token of this machine's server to loopback addresses only", async () => {
  await using tmp = await tmpdir({ git: true })
  await using started = run(process.execPath, [command, "serve", "--port", "0"], {
    cwd: tmp.path,
    env: tmp.env,
  })
  await started.line(/listening on/)
  const tokens: unknown[] = []
  const server = createServer(({ headers }, response) => {
    tokens.push(headers.authorization)
    response.writeHead(401).end()
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  try {
    // The system connects it to this machine, but the name is not a loopback address.
    const url = `http://0.0.0.0:${(server.address() as AddressInfo).port}`
    await using without = await openXterm(tmp, ["attach", url])
    assert.equal(await without.exit, 1, without.all())
    assert.match(without.all(), /is not on this machine.*set VITAMIN_TOKEN/s)
    assert.deepEqual(tokens, [])
    await using given = await openXterm(tmp, ["attach", url], { env: { VITAMIN_TOKEN: "its-own" } })
    assert.equal(await given.exit, 1, given.all())
    assert.deepEqual(tokens, ["Bearer its-own"])
  } finally {
    server.close()
  }
})

test("attach refuses --trust, which would not reach the server", async () => {
  await using tmp = await tmpdir()
  const { code, err } = await vitamin(tmp, ["attach", "--trust"])
  assert.equal(code, 2)
  assert.match(err, /attach has no --trust: type \/trust there/)
})

test("attach needs a terminal", async () => {
  await using tmp = await tmpdir()
  const { code, err } = await vitamin(tmp, ["attach"])
  assert.equal(code, 2)
  assert.match(err, /needs a terminal/)
})
