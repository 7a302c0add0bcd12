// Resources of MCP servers in a prompt, as `@server:uri`.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { mcpJson, officialServer, tinyServer } from "../../../ability/mcp/servers.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { env, type FakeLlm, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { image } from "../../../fixture/images.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const seeing = { "fake-model": { input: ["text", "image"] } }
const png = image("note.png").toString("base64")
const resources = [
  { uri: "notes://one", name: "one", mimeType: "text/plain", text: "The sky is\u001b[2J green." },
  { uri: "notes://two.md", name: "two", mimeType: "text/markdown", text: "Two." },
  { uri: "notes://large", name: "large", mimeType: "text/plain", text: `start ${"x".repeat(200_000)} end` },
  { uri: "notes://picture", name: "picture", mimeType: "image/png", blob: png },
  { uri: "notes://bytes", name: "bytes", mimeType: "application/zip", blob: "AAEC/w==" },
]

async function withServer(servers: Record<string, object>): Promise<Tmp> {
  const tmp = await tmpdir({ git: true })
  tmp.write("offers.json", JSON.stringify({ resources }))
  tmp.write(".mcp.json", mcpJson(servers))
  await vitamin(tmp, ["trust", "--yes"])
  const { code, out } = await vitamin(tmp, ["mcp", "test"])
  assert.equal(code, 0, out)
  return tmp
}

function sent(llm: FakeLlm, at: number): string {
  return JSON.stringify(llm.requests[at]!.body)
}

test("@server:uri attaches a resource of server-everything after permission", async () => {
  await using tmp = await withServer({ everything: officialServer("everything") })
  await using llm = await fakeLlm([text("Read."), text("Not read.")])
  const { variables } = env(llm, "chat")
  const words = "What is in @everything:demo://resource/dynamic/text/1?"
  const { code, err } = await vitamin(tmp, ["run", "--allow", "mcp.call:everything/*", words], variables)
  assert.equal(code, 0, err)
  assert.match(err, /· attached everything:demo:\/\/resource\/dynamic\/text\/1\n/)
  assert.match(sent(llm, 0), /<resource server=.{1,4}everything.*Resource 1: This is a plaintext resource/)
  const denied = await vitamin(tmp, ["run", words], variables)
  assert.equal(denied.code, 3, denied.err)
  assert.match(denied.err, /--allow "mcp\.call:everything\/resource:demo:/)
  assert.match(sent(llm, 1), /resource demo:.* of everything could not be read/)
})

test("a resource is read at most once an hour, or as often as configured for its type; --refresh retries failed ones", async () => {
  const log = "log"
  await using tmp = await withServer({ tiny: tinyServer({ file: "offers.json" }, log) })
  await using llm = await fakeLlm(Array.from({ length: 5 }, (_, i) => text(`Answer ${i}.`)))
  const { variables } = env(llm, "chat")
  const run = async (message: string, more: object = {}, ...options: string[]) => {
    const args = ["run", "--continue", "--yes", ...options, message]
    const { code, err } = await vitamin(tmp, args, {
      ...variables,
      VITAMIN_CONFIG: JSON.stringify(more),
    })
    assert.equal(code, 0, err)
    return err
  }
  const reads = () => readFileSync(join(tmp.path, log), "utf8").match(/^read .*$/gm) ?? []
  assert.equal((await vitamin(tmp, ["run", "--yes", "@tiny:notes://one"], variables)).code, 0)
  assert.deepEqual(reads(), ["read notes://one"])
  assert.match(sent(llm, 0), /The sky is.{1,4}u\{1b\}\[2J green/)
  await run("Again @tiny:notes://one.")
  assert.deepEqual(reads(), ["read notes://one"], "it is fresh")
  assert.equal(sent(llm, 1).match(/The sky is/g)?.length, 2)
  await run("Again @tiny:notes://one", { mcp: { resourceAge: { "text/*": 0 } } })
  assert.equal(reads().length, 2, "its type is never fresh")
  const err = await run('See @"tiny:notes://none", @tiny:notes://two.md and @other:notes://one')
  assert.match(err, /✗ tiny:notes:\/\/none could not be attached: .*no notes:\/\/none here/)
  assert.match(err, /· attached tiny:notes:\/\/two\.md/)
  assert.doesNotMatch(err, /(attached|✗) other/)
  assert.equal(reads().length, 4)
  tmp.write("offers.json", JSON.stringify({ resources: [{ uri: "notes://none", name: "n", text: "Now." }] }))
  const again = await run("and now?", { mcp: { resourceAge: { "*": 0 } } }, "--refresh")
  assert.match(again, /· attached tiny:notes:\/\/none/)
  assert.match(again, /tiny:notes:\/\/two\.md could not be read again and stays as it was/)
  assert.match(sent(llm, 4), /Two\..*Now\.|Now\..*Two\./s)
})

test("a large resource is shortened with a note, an image is shown, and an unreadable resource is named", async () => {
  await using tmp = await withServer({ tiny: tinyServer({ file: "offers.json" }) })
  await using llm = await fakeLlm([text("Seen.")])
  const { variables } = env(llm, "chat")
  const config = { provider: { openai: { models: seeing } } }
  const words = "@tiny:notes://large @tiny:notes://picture @tiny:notes://bytes"
  const { code, err } = await vitamin(tmp, ["run", "--yes", words], {
    ...variables,
    VITAMIN_CONFIG: JSON.stringify(config),
  })
  assert.equal(code, 0, err)
  const body = sent(llm, 0)
  assert.ok(body.length < 120_000 + png.length, String(body.length))
  assert.match(body, /start xxx.*…\].*xxx end/s)
  assert.ok(body.includes(png))
  assert.match(body, /application\/zip: 4 bytes, which cannot be read here/)
})

test("when the window is full, the oldest resources are dropped with a notice, and those used last stay", async () => {
  await using tmp = await withServer({ tiny: tinyServer({ file: "offers.json" }) })
  const answer = `answer ${"in many words ".repeat(500)}`
  await using llm = await fakeLlm(({ raw, system }) => {
    const input = Math.ceil(raw.length / 4)
    return text(/^You summarise/.test(system) ? "SUMMARY" : answer, { usage: { input, output: 1_800 } })
  })
  const models = { "fake-model": { context: 12_000, output: 1_000 } }
  const variables = {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify({ provider: { openai: { models } } }),
    VITAMIN_LOG: "info",
  }
  assert.equal((await vitamin(tmp, ["run", "--yes", "@tiny:notes://one"], variables)).code, 0)
  let told = ""
  for (let i = 0; i < 8; i++) {
    const { code, err } = await vitamin(
      tmp,
      ["run", "--continue", "--yes", "@tiny:notes://two.md"],
      variables,
    )
    assert.equal(code, 0, err)
    told += err
  }
  assert.match(told, /Not shown to the model any more, to save tokens: tiny:notes:\/\/one\./)
  const named = /Resources of MCP servers that were shown and are not any more:\n- tiny:notes:\/\/one$/m
  assert.match(
    llm.requests
      .at(-1)!
      .messages.map((message) => message.text)
      .join("\n"),
    named,
  )
  assert.match(llm.requests.at(-1)!.raw, /Two\./)
  assert.doesNotMatch(llm.requests.at(-1)!.raw, /The sky is/)
})

test("no resource is read in an untrusted folder, and the run continues", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ tiny: tinyServer({}, "log") }))
  await using llm = await fakeLlm([text("Fine.")])
  const { code, out, err } = await vitamin(
    tmp,
    ["run", "--yes", "@tiny:notes://one"],
    env(llm, "chat").variables,
  )
  assert.deepEqual([code, out], [0, "Fine."], err)
  assert.match(err, /✗ tiny:notes:\/\/one could not be attached: .*not trusted/)
  assert.ok(!existsSync(join(tmp.path, "log")))
})

/** A model with a window of 8k tokens. */
function small(llm: FakeLlm) {
  const openai = { baseURL: `${llm.url}/v1`, models: { "fake-model": { context: 8_000, output: 1_000 } } }
  return { ...env(llm, "chat").variables, VITAMIN_CONFIG: JSON.stringify({ provider: { openai } }) }
}

test("a resource that is too large for the window is summarised by the model, and stored whole in a file", async () => {
  const manual = {
    uri: "docs://manual",
    name: "manual",
    text: `Chapter 1. ${"Words follow words. ".repeat(1_500)}`,
  }
  await using tmp = await withServer({ tiny: tinyServer({ resources: [manual] }) })
  await using llm = await fakeLlm([text("A manual in one chapter."), text("Read.")])
  const ran = await vitamin(tmp, ["run", "--yes", "Explain @tiny:docs://manual"], small(llm))
  assert.equal(ran.code, 0, ran.err)
  const [summary, asked] = llm.requests
  assert.match(summary!.system, /summarise a document/)
  assert.match(summary!.raw, /Chapter 1/)
  assert.deepEqual([summary!.body.tools ?? []], [[]])
  const words = asked!.messages.at(-1)!.text
  assert.match(
    words,
    /Provided by the system:\n<resource server="tiny" uri="docs:\/\/manual">\n\[a summary; all \d+ characters/,
  )
  assert.match(words, /A manual in one chapter\./)
  assert.doesNotMatch(words, /Words follow words/)
  const [, file] = / in (\S+\.txt), which read/.exec(words)!
  assert.equal(readFileSync(file!, "utf8"), manual.text)
})

test("if the model gives no summary, the beginning and the end of a large resource are sent", async () => {
  const manual = {
    uri: "docs://manual",
    name: "manual",
    text: `Chapter 1. ${"Words. ".repeat(4_000)} The end.`,
  }
  await using tmp = await withServer({ tiny: tinyServer({ resources: [manual] }) })
  await using llm = await fakeLlm(({ system }) => text(/summarise a document/.test(system) ? "" : "Read."))
  const ran = await vitamin(tmp, ["run", "--yes", "Explain @tiny:docs://manual"], small(llm))
  assert.equal(ran.code, 0, ran.err)
  assert.match(
    llm.requests.at(-1)!.raw,
    /\[cut; all \d+ characters are in .*Chapter 1\..*left out here.*The end\./,
  )
})
