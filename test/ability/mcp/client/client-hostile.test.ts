import assert from "node:assert/strict"
import { test } from "node:test"
import { createMCPClient } from "#ability/mcp/client/create-client.ts"
import type { MCPClientConfig, MCPLog, MCPServerConfig } from "#ability/mcp/server/types.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { hostile } from "../../../fixture/mcp/servers.ts"
import { until } from "../../../fixture/until.ts"

test("a crash fails the waiting call with the server's stderr, and the next call starts it again", async () => {
  await using client = clientOf(hostile("plain"))
  await client.connect()
  await assert.rejects(client.callTool("crash"), (error: Error) => {
    assert.equal(error.name, "MCP.Crashed")
    assert.match(error.message, /exited with 3/)
    // What it wrote cannot drive a terminal.
    assert.ok(error.message.includes("about to fail: \\u001b[31mno disk"))
    return true
  })
  assert.equal(client.status().state, "failed")
  assert.equal((await client.callTool("good")).content.length, 1)
  assert.equal(client.status().state, "connected")
})

test("the error of a killed server names the signal", async () => {
  await using client = clientOf(hostile("plain"))
  await assert.rejects(client.callTool("crash-quietly"), /was ended by SIGKILL.*wrote nothing/)
})

test("a crash at the start shows only the last lines of stderr", async () => {
  await using client = clientOf(hostile("crash-at-start"))
  await assert.rejects(client.connect(), (error: Error) => {
    assert.match(error.message, /exited with 7/)
    assert.match(error.message, /line 500 of a long story$/)
    assert.doesNotMatch(error.message, /line 400 /)
    return true
  })
})

test("a server that crashes again and again is left alone after some tries", async () => {
  await using client = clientOf(hostile("crash-at-start"))
  for (let n = 0; n < 5; n++) await assert.rejects(client.callTool("good"), { name: "MCP.Crashed" })
  await assert.rejects(client.callTool("good"), /failed 5 times in a row/)
})

test("a server that closes its output but keeps running is ended", async () => {
  await using client = clientOf(hostile("plain"))
  await assert.rejects(client.callTool("close-output"), /closed its output and was ended/)
})

test("of many questions at once only some reach the host, the rest is declined", async () => {
  let asked = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  await using client = clientOf(hostile("plain"), {
    onElicit: async () => {
      if (++asked === 8) setTimeout(resolve, 100)
      await promise
      return { action: "accept", content: {} }
    },
  })
  assert.deepEqual((await client.callTool("ask-much")).content, [{ type: "text", text: "12" }])
})

test("a URL that is not http or https is not shown to the person", async () => {
  await using client = clientOf(hostile("plain"), {
    onElicit: async () => assert.fail("it must not be asked"),
  })
  assert.deepEqual((await client.callTool("ask-to-visit")).content, [{ type: "text", text: "1" }])
})

test("log messages of the server are requested only if logging is on", async () => {
  for (const logging of [true, false]) {
    const logs: MCPLog[] = []
    await using client = clientOf(hostile("plain"), {
      features: { logging },
      hooks: { onLog: (log) => logs.push(log) },
    })
    await client.callTool("good")
    const said = logs.filter(({ source }) => source === "server")
    const expected = { level: "warning", source: "server", message: "from debug on", data: "from debug on" }
    assert.deepEqual(said, logging ? [expected] : [])
  }
})

test("a client that is closed fails the call that waits", async () => {
  await using client = clientOf(hostile("plain"))
  await client.connect()
  const call = client.callTool("hang")
  const refused = assert.rejects(call, { name: "MCP.Closed" })
  await client.close()
  await refused
})

test("a program that does not exist is said to be missing", async () => {
  await using client = clientOf({ ...hostile("plain"), command: ["no-such-program-anywhere"] })
  await assert.rejects(client.connect(), {
    name: "MCP.Unavailable",
    message: /the program "no-such-program-anywhere" was not found/,
  })
})

test("a folder that does not exist is said to be missing", async () => {
  await using client = clientOf({ ...hostile("plain"), cwd: "/no/such/folder" })
  await assert.rejects(client.connect(), /\/no\/such\/folder is no folder/)
})

test("a call that is not answered ends at its time limit, and the server is told", async () => {
  const logs: MCPLog[] = []
  await using client = clientOf(hostile("plain"), { hooks: { onLog: (log) => logs.push(log) } })
  await assert.rejects(client.callTool("hang", {}, { timeout: 300 }), {
    name: "MCP.TimedOut",
    message: /did not answer tools\/call within 0.3 s/,
  })
  assert.equal((await client.callTool("good")).isError, false)
  await until(() => logs.some(({ message }) => message.startsWith("cancelled ")))
})

test("a cancelled call ends at once, and the server is told", async () => {
  const logs: MCPLog[] = []
  await using client = clientOf(hostile("plain"), { hooks: { onLog: (log) => logs.push(log) } })
  await client.connect()
  const cancel = new AbortController()
  const call = client.callTool("hang", {}, { signal: cancel.signal })
  setImmediate(() => cancel.abort(new Error("enough")))
  await assert.rejects(call, /enough/)
  assert.equal((await client.callTool("good")).isError, false)
  await until(() => logs.some(({ message }) => message.startsWith("cancelled ")))
})

test("a server that never answers can be given up, and ends with the client", async () => {
  await using client = clientOf({ ...hostile("silent"), timeout: 60_000 })
  const connecting = client.connect()
  await client.close()
  await assert.rejects(connecting, { name: "MCP.Closed" })
})

test("a message of 500 MB fails its call alone, in bounded memory", async () => {
  await using client = clientOf(hostile("plain", "500"))
  await client.connect()
  let highest = 0
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss)
  }, 20)
  const before = process.memoryUsage().rss
  await assert.rejects(client.callTool("long-line"), {
    name: "MCP.BadAnswer",
    message: /a message of 5\d{8} bytes is too long/,
  })
  clearInterval(timer)
  assert.ok(highest - before < 250 << 20, `${(highest - before) >> 20} MB`)
  assert.equal((await client.callTool("good")).isError, false)
})

test("a message below the limit is taken whole", async () => {
  await using client = clientOf(hostile("plain", "20"))
  const { content } = await client.callTool("long-line")
  assert.equal(content[0]?.type === "text" && content[0].text.length, 20 << 20)
})

test("floods of log messages and of stderr pass by", async () => {
  let logs = 0
  await using client = clientOf(hostile("plain"), { hooks: { onLog: () => void logs++ } })
  assert.equal((await client.callTool("flood")).isError, false)
  assert.ok(logs >= 100_000)
})

test("lines on stdout that are not messages are skipped and logged", async () => {
  const logs: MCPLog[] = []
  await using client = clientOf(hostile("banner"), { hooks: { onLog: (log) => logs.push(log) } })
  assert.equal((await client.callTool("good")).isError, false)
  const told = logs.filter(({ source }) => source === "client").map(({ message }) => message)
  assert.ok(told.includes("not a message, skipped: Welcome to a server!"))
  assert.ok(told.includes("not a message, skipped: { not json"))
})

test("answers of the wrong type are refused clearly", async () => {
  await using client = clientOf(hostile("plain"))
  await assert.rejects(client.callTool("text-result"), {
    name: "MCP.BadAnswer",
    message: /neither a result nor an error of the right type/,
  })
  await assert.rejects(client.callTool("wrong-content"), { name: "MCP.BadAnswer" })
  await assert.rejects(client.callTool("refuse"), { name: "MCP.Refused", message: /not today \(-32050\)/ })
})

test("a list result that is not a list is refused", async () => {
  await using client = clientOf(hostile("bad-list"))
  await assert.rejects(client.listTools(), { name: "MCP.BadAnswer" })
})

test("invalid and duplicate entries are left out of a list, and logged", async () => {
  const logs: string[] = []
  await using client = clientOf(hostile("wrong-types"), {
    hooks: { onLog: ({ message }) => logs.push(message) },
  })
  const tools = await client.listTools()
  assert.deepEqual(tools, [
    { name: "good", inputSchema: { type: "object" } },
    { name: "odd", inputSchema: { type: "object" } },
  ])
  assert.equal(logs.filter((line) => line.includes("an entry was left out")).length, 4)
  assert.equal(logs.filter((line) => line.includes('"good" is listed twice')).length, 1)
})

test("a list without an end is cut", async () => {
  const logs: string[] = []
  await using client = clientOf(hostile("endless-pages"), {
    hooks: { onLog: ({ message }) => logs.push(message) },
  })
  assert.equal((await client.listTools()).length, 100)
  assert.ok(logs.some((line) => line.includes("tools/list does not end")))
})

test("onPaginate() decides whether a list goes on", async () => {
  const cursors: string[] = []
  await using whole = clientOf(hostile("pages"))
  assert.equal((await whole.listTools()).length, 5)
  await using part = clientOf(hostile("pages"), {
    hooks: {
      onPaginate: async (cursor) => {
        cursors.push(cursor)
        return cursor !== "2"
      },
    },
  })
  assert.equal((await part.listTools()).length, 2)
  assert.deepEqual(cursors, ["1", "2"])
})

test("schemas that are too expensive to check are skipped, others are checked", async () => {
  await using client = clientOf(hostile("slow-pattern"))
  await client.listTools()
  assert.equal((await client.callTool("match")).isError, false)
  assert.equal((await client.callTool("bomb")).isError, false)
  await assert.rejects(client.callTool("wrong"), /structured content/i)
})

test("an old server that exits at an unknown request is asked in its older revision", async () => {
  await using client = clientOf(hostile("ends-at-probe"))
  assert.equal((await client.connect()).protocol, "2025-11-25")
})

test("a change of the tools is reported", async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  await using client = clientOf(hostile("plain"), { onChanged: resolve })
  await client.callTool("change")
  assert.equal(await promise, "tools")
})

test("a server gets a base environment and what its entry names, nothing else of the person's", async () => {
  const key = "a-key-that-vitamin-holds-1234"
  Secret.register(key, "test key")
  process.env.OUR_TEST_KEY = key
  process.env.PERSONS_OWN = "kept"
  try {
    await using client = clientOf({ ...hostile("plain"), env: { GIVEN: "yes" } })
    const { content } = await client.callTool("environment")
    const env = JSON.parse(content[0]?.type === "text" ? content[0].text : "{}")
    assert.deepEqual([env.OUR_TEST_KEY, env.PERSONS_OWN, env.GIVEN], [undefined, undefined, "yes"])
    assert.equal(env.PATH, process.env.PATH)
  } finally {
    delete process.env.OUR_TEST_KEY
    delete process.env.PERSONS_OWN
  }
})

test("hooks see and change messages, and a hook that throws fails its call", async () => {
  await using client = clientOf(hostile("plain"), {
    hooks: {
      onRequest: ({ method, params }) =>
        method === "tools/call" ? { method, params: { ...params, name: "good" } } : { method, params },
      onResponse: async ({ method, result }) => {
        if (method === "tools/list") throw new Error("not with me")
        return method === "tools/call"
          ? { method, result: { content: [{ type: "text", text: "changed" }] } }
          : { method, result }
      },
    },
  })
  assert.deepEqual((await client.callTool("hang")).content, [{ type: "text", text: "changed" }])
  await assert.rejects(client.listTools(), /a hook failed: not with me/)
})

function clientOf(server: MCPServerConfig, config: Omit<MCPClientConfig, "server"> = {}) {
  const client = createMCPClient({ server, ...config })
  return { ...client, [Symbol.asyncDispose]: client.close }
}
