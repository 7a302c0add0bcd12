// Events of a prompt that reach the terminal before the answer that names the prompt.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { serving } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { openXterm } from "../../fixture/xterm.ts"

const [enter, esc] = ["\r", "\u001b"]

/** In front of a server: it holds the answers to prompts back. */
async function holdAnswers(target: string) {
  const held: (() => void)[] = []
  let isHolding = false
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, host: new URL(target).host }
    const { method, url } = incoming
    const far = request(target + url, { method, headers }, (answer) => {
      const pass = () => {
        outgoing.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(outgoing)
      }
      if (isHolding && method === "POST" && /\/session\/[^/]+\/message$/.test(url!)) held.push(pass)
      else pass()
    })
    far.on("error", () => outgoing.destroy())
    outgoing.on("close", () => far.destroy())
    incoming.pipe(far)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    hold() {
      isHolding = true
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

test("a prompt that began before its answer came does not wait any more", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using line = await holdAnswers(server.url)
  await using terminal = await openXterm(tmp, ["attach", line.url])
  await terminal.sees(/^ask · /m)
  line.hold()
  terminal.type(`go${enter}`)
  await terminal.sees(/▌ go.*Done\./s)
  await until(() => line.held.length === 1, "the answer")
  line.held[0]!()
  await terminal.misses(/waits: go/)
})

test("a prompt that was stopped before its answer came returns to the editor", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("bash", { command: "sleep 600" })])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  await using line = await holdAnswers(server.url)
  await using terminal = await openXterm(tmp, ["attach", line.url, "--yes"])
  await terminal.sees(/^yes to all · /m)
  terminal.type(`one${enter}`)
  await terminal.sees("● Run sleep 600")
  line.hold()
  terminal.type(`two${enter}`)
  await until(() => line.held.length === 1, "the answer")
  terminal.type(esc)
  await terminal.sees("· stopped")
  line.held[0]!()
  await terminal.sees(/^> two$/m)
  assert.doesNotMatch(terminal.screen(), /waits: two/)
})
