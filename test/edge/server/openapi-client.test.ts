// A client that is generated from the server's OpenAPI document, compiled strictly and used against the same server.
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { serving } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { createChecker, type Document } from "./openapi-checker.ts"

const modules = fileURLToPath(new URL("../../../node_modules", import.meta.url))
/** Turns off telemetry and update checks, which use the network. */
const quiet = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }

/** A program that knows only the document. */
const program = `
import { type AcceptedPrompt, client, configure, createSession, followEvents, getSession, isToolResultMessage, listMessages, promptSession } from "./client.ts"

configure({ auth: { bearer: process.env.TOKEN! } })
const created = await createSession({ body: { title: "Generated" } })
if (created.error) throw new Error(created.error.error.message)
const path = { id: created.data.id }

const events: string[] = []
const payloads: unknown[] = []
const followed = (async () => {
  for await (const { data } of followEvents({ headers: { "last-event-id": "999999" } })) {
    // This generator also yields the block that only sets the reconnection time.
    if (!data) continue
    events.push(data.type)
    payloads.push(data)
    if (data.type === "session.idle" && data.payload.sessionId === path.id) return
  }
})()
const accepted = await promptSession({ path, body: { text: "List it" }, headers: { prefer: "respond-async" } })
if (accepted.error) throw new Error(accepted.error.error.message)
// The generator knows one type of success per operation, that of 200.
const { promptId } = accepted.data as object as AcceptedPrompt
await followed

const messages = await listMessages({ path })
if (messages.error) throw new Error(messages.error.error.message)
const result = messages.data.find(isToolResultMessage)
const missing = await getSession({ path: { id: "sess_none" } })
console.log(JSON.stringify({
  accepted: accepted.response.status,
  begins: messages.data[0]?.promptId === promptId,
  tool: result?.data.toolName,
  types: messages.data.map(({ type }) => type),
  events,
  payloads,
  missing: [missing.response?.status, missing.error?.error.name],
  operations: Object.keys(client).length,
}))
`

/** Runs a script to its end; throws with its output if it fails. */
async function output(tmp: Tmp, script: string, args: string[], variables: Record<string, string> = {}) {
  const environment = { ...process.env, ...tmp.env, ...quiet, ...variables }
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...args], {
    cwd: tmp.path,
    env: environment,
  })
  return stdout
}

test("the document passes redocly lint, and a client generated from it prompts, follows and lists", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("ls", { path: "." }), text("Listed.")])
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = child
  const token = readFileSync(tokenFile, "utf8").trim()
  const response = await fetch(`${url}/openapi.json`, { headers: { authorization: `Bearer ${token}` } })
  const document = await response.text()
  tmp.write("openapi.json", document)

  const redocly = join(modules, "@redocly/cli/bin/cli.js")
  const lint = JSON.parse(await output(tmp, redocly, ["lint", "openapi.json", "--format=json"]))
  assert.deepEqual([lint.totals, lint.problems], [{ errors: 0, warnings: 0, ignored: 0 }, []])

  const generate = ["generate-client", "openapi.json", "--output=client.ts"]
  const options = ["--error-mode=result", "--args-style=grouped", "--import-ext=ts"]
  await output(tmp, redocly, [...generate, ...options])
  tmp.write("program.ts", program)
  const compiler = ["--noEmit", "--strict", "--allowImportingTsExtensions", "--target", "esnext"]
  const types = ["--module", "preserve", "--typeRoots", join(modules, "@types"), "--types", "node"]
  const tsc = join(modules, "typescript/bin/tsc")
  assert.equal(await output(tmp, tsc, [...compiler, ...types, "program.ts"]), "")

  const ran = await output(tmp, "program.ts", [], { TOKEN: token })
  const { accepted, begins, tool, missing, events, payloads, types: kinds } = JSON.parse(ran)
  assert.deepEqual([accepted, begins, tool], [202, true, "ls"])
  assert.deepEqual(missing, [404, "Session.NotFound"])
  assert.deepEqual(kinds, ["text", "tool_request", "tool_result", "text"])
  for (const type of ["gap", "message.created", "session.idle"]) assert.ok(events.includes(type), type)
  const checker = createChecker(JSON.parse(document) as Document)
  for (const event of payloads) checker.fits("#/components/schemas/Event", event, event.type)
})
