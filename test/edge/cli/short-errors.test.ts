// Internal errors are one line on stderr, without the output of a validation library and without minified source.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { run } from "../../fixture/child.ts"
import { vitamin } from "../../fixture/cli.ts"
import { env, type Wire } from "../../fixture/fake-llm.ts"
import { noServers } from "../../fixture/no-servers.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

/** JSON that is not a valid event of the wire form, in fields that clients check. */
const foreign: Record<Wire, object> = {
  chat: { choices: [{ delta: { content: { a: 1 }, tool_calls: [{ index: "z" }] } }] },
  responses: {
    type: "response.output_item.added",
    output_index: "a",
    item: { type: "message", id: 5 },
  },
  messages: { type: "message_start", message: { id: 5 } },
  gemini: { candidates: [{ content: { parts: [{ text: 5 }] } }] },
}

/** Answers every request with one event. */
async function answering(event: object): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(`data: ${JSON.stringify(event)}\n\n`)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test("a provider that sends malformed events is reported in one line per attempt", async () => {
  const providers = { chat: "openai", responses: "openai", messages: "anthropic", gemini: "google" }
  await Promise.all(
    (Object.keys(foreign) as Wire[]).map(async (wire) => {
      await using tmp = await tmpdir()
      await using llm = await answering(foreign[wire])
      const { code, err } = await vitamin(tmp, ["run", "hello"], env(llm, wire).variables)
      assert.equal(code, 1)
      const lines = err.trim().split("\n")
      assert.equal(lines.length, 6, err)
      for (const line of lines.slice(0, -1)) assert.match(line, /^vitamin: \w+: .{10,80}; try \d of 6 in /)
      const why = "(its answer does not follow its API|The model's answer broke off before its end)"
      assert.match(
        lines.at(-1)!,
        new RegExp(`^vitamin: ${providers[wire]} failed: ${why}\\. Try again, or use another --model\\.$`),
      )
    }),
  )
})

test("an error that an embedding program does not catch prints a line of source, and names our functions", async () => {
  await using tmp = await tmpdir()
  const library = new URL("../../../dist/index.js", import.meta.url).href
  tmp.write("program.mjs", `import { Session } from "${library}"\nawait Session.get("sess_1")\n`)
  await using child = run(process.execPath, ["program.mjs"], {
    cwd: tmp.path,
    env: { ...tmp.env, ...noServers },
  })
  assert.equal(await child.exit, 1)
  const err = child.errors()
  assert.match(err, /\nSession\.NotFound: Session sess_1 does not exist/)
  assert.match(err, /\n {4}at Module\.get(?:\$\d+)? \(.*\/dist\/core-/)
  assert.ok(err.length < 2_000, `${err.length} bytes: ${err.slice(0, 500)}`)
})

test("the command prints an internal error as one line, and its stack with --log-level debug", async () => {
  await using tmp = await tmpdir()
  // Nothing can be stored below a device.
  const broken = { VITAMIN_DATA_DIR: "/dev/null/data" }
  const short = await vitamin(tmp, ["run", "hello"], broken)
  assert.equal(short.code, 1)
  assert.match(short.err, /^vitamin: [^\n]{1,400}\n$/)
  const long = await vitamin(tmp, ["run", "hello", "--log-level", "debug"], broken)
  assert.match(long.err, /\n {4}at /)
  assert.ok(long.err.length < 6_000, long.err)
})
