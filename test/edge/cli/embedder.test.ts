// A configured embedder through the built command: it finds tools, skills and linked documents.
import assert from "node:assert/strict"
import { once } from "node:events"
import { readdirSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { test } from "node:test"
import * as Global from "#kernel/process/global.ts"
import { mcpJson, tinyServer } from "../../ability/mcp/servers.ts"
import { vitamin } from "../../fixture/cli.ts"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { linkLlama, noLlama } from "../../fixture/llama.ts"
import { toolsOf } from "../../fixture/mcp/many-tools.ts"
import { writeTinyGguf } from "../../fixture/tiny-gguf.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

/** Made-up words that only this model knows as synonyms. */
const meanings: Record<string, string> = { zorblax: "spreadsheet", quimby: "deploy" }
const silent = new Set(
  "a an and by for in into is it make me my of on or the this to we what with".split(" "),
)
const dimensions = 4_096

/** A model that adds up one vector for each word. Its prefix says what a text is, not what it is about. */
function embed(words: string): number[] {
  const vector = new Array<number>(dimensions).fill(0)
  for (const [word] of words
    .replace(/^search_\w+: /, "")
    .toLowerCase()
    .matchAll(/[a-z]{2,}/g)) {
    const said = (meanings[word] ?? word).replace(/(?:ing|ed|es|s)$/, "")
    if (silent.has(said)) continue
    let hash = 7
    for (const letter of said) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0
    vector[hash % dimensions]! += 1
  }
  return vector
}

async function embeddingServer() {
  const inputs: string[] = []
  const server = createServer(async (request, response) => {
    const { input, model } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    inputs.push(...input)
    const data = input.map((one: string, index: number) => ({
      object: "embedding",
      index,
      embedding: embed(one),
    }))
    response.setHeader("content-type", "application/json")
    response.end(
      JSON.stringify({ object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }),
    )
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    inputs,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

/** Skills, a linked document, and more tools than a request may name. */
async function project(tmp: Tmp): Promise<void> {
  for (const [name, description] of [
    ["xlsx", "Creates and edits a spreadsheet with formulas."],
    ["release-notes", "Writes the notes of a release from the history."],
  ])
    tmp.write(
      `.claude/skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: ${description}\n---\nBODY OF ${name}.\n`,
    )
  tmp.write("AGENTS.md", "# Rules\n\n- [How we deploy](docs/deploy.md)\n")
  tmp.write("docs/deploy.md", "# Deploy\n\nDEPLOY WITH MAKE SHIP.\n")
  const tools = ["billing", "calendar", "hotel"].flatMap(toolsOf)
  tmp.write(".mcp.json", mcpJson({ office: tinyServer({ tools }) }))
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const tested = await vitamin(tmp, ["mcp", "test"])
  assert.equal(tested.code, 0, tested.out + tested.err)
}

test("the configured embedder finds skills, with the prefixes that its model needs", async () => {
  await using tmp = await tmpdir({ git: true })
  await using embedder = await embeddingServer()
  await project(tmp)
  const ask = async (prompt: string, config: object) => {
    await using llm = await fakeLlm([text("done")])
    const { variables } = env(llm, "chat")
    const { code, err } = await vitamin(tmp, ["run", prompt], {
      ...variables,
      VITAMIN_CONFIG: JSON.stringify(config),
    })
    assert.equal(code, 0, err)
    return llm.requests[0]!.raw.match(/BODY OF [\w-]+/g) ?? []
  }
  const provider = { mine: { baseURL: embedder.baseURL, apiKey: "key-0123456789" } }
  const configured = { provider, embedder: { model: "mine/nomic-embed-text" } }
  const prompt = "make me a zorblax with formulas"
  assert.deepEqual(await ask("make me a zorblax", {}), [], "the embedded model does not know the word")
  assert.deepEqual(await ask(prompt, configured), ["BODY OF xlsx"])
  assert.ok(embedder.inputs.includes(`search_query: ${prompt}`))
  const skill = "search_document: xlsx: Creates and edits a spreadsheet with formulas."
  assert.ok(embedder.inputs.includes(skill), embedder.inputs.join("\n"))
  assert.deepEqual(await ask("what is the capital of France?", configured), [])
  assert.equal(embedder.inputs.filter((one) => one === skill).length, 1, "vectors are kept")
})

test("a GGUF embedder is shared by tools, skills and linked documents", { skip: noLlama }, async () => {
  await using tmp = await tmpdir({ git: true })
  await project(tmp)
  linkLlama()
  writeTinyGguf(join(tmp.path, "..", "tiny.gguf"))
  await using llm = await fakeLlm([text("done")])
  const { code, err } = await vitamin(tmp, ["run", "deploy the release and create a refund"], {
    ...env(llm, "chat").variables,
    VITAMIN_CONFIG: JSON.stringify({ embedder: { gguf: "../tiny.gguf" } }),
  })
  assert.equal(code, 0, err)
  for (const part of ["skills", "rules", "discovery"]) {
    const folder = join(Global.cache(), part)
    const [file] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((one) =>
      one.endsWith(".db"),
    )
    using db = new DatabaseSync(join(folder, file!), { readOnly: true })
    const rows = db.prepare("select distinct embedder from vectors").all() as { embedder: string }[]
    assert.match(rows.map((row) => row.embedder).join(), /^tiny\.gguf:\d+:\d+\/512$/, part)
  }
})
