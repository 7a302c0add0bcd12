// Answers of `vitamin serve` checked against its own OpenAPI document: every operation once
// with success, and every operation with an id once with an unknown id.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { mcpJson, officialServer } from "../../ability/mcp/servers.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { image } from "../../fixture/images.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { createChecker, type Document } from "./openapi-checker.ts"

const skill = "---\nname: greet\ndescription: Greets people. Use when somebody says hello.\n---\nSay hello.\n"

type Change = { path: string; hash: string }

/** A real server with an MCP server, a skill, a document of itself, and a client that checks every answer. */
async function setUp(script: Parameters<typeof fakeLlm>[0]) {
  const tmp = await tmpdir({ git: true })
  tmp.write(".mcp.json", mcpJson({ everything: officialServer("everything") }))
  tmp.write(".vitamin/skills/greet/SKILL.md", skill)
  assert.equal((await vitamin(tmp, ["trust", "--yes"])).code, 0)
  const llm = await fakeLlm(script)
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  const document = (await (
    await fetch(`${url}/openapi.json`, { headers: { authorization } })
  ).json()) as Document
  const checker = createChecker(document)
  type Options = { path?: Record<string, string>; query?: string; body?: unknown; headers?: object }
  return {
    tmp,
    document,
    checker,
    url,
    /** Calls an operation by its id; the document must describe the answer. */
    async send(id: string, options: Options = {}) {
      const { method, path } = checker.operation(id)
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => options.path?.[name] ?? "nope")
      const response = await fetch(url + filled + (options.query ?? ""), {
        method,
        headers: { authorization, "content-type": "application/json", ...options.headers },
        ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      })
      const body = await response.json()
      checker.check(id, response.status, body)
      // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
      return { status: response.status, body: body as any }
    },
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]()
      await llm[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

test("every operation answers as the document says", async () => {
  await using world = await setUp([
    calls([call("write", { path: "a.txt", content: "a" }), call("todo", { items: [{ title: "one" }] })]),
    call("everything_trigger-elicitation-request", {}),
    text("Done."),
    text("Again."),
    text("A summary."),
  ])
  const { send, checker } = world
  const done = async (...sent: Parameters<typeof send>) => {
    const { status, body } = await send(...sent)
    assert.ok(status === 200 || status === 202, `${sent[0]} answered ${status}: ${JSON.stringify(body)}`)
    return body
  }
  const pending = async (list: string) => {
    await until(async () => (await done(list)).length > 0, `${list} has one`)
    return (await done(list))[0].id as string
  }
  for (const id of ["getHealth", "getInfo", "getConfig", "getOpenapi", "listProviders", "listAgents"])
    await done(id)
  for (const id of ["listUsableModels", "completeFile", "listCommands", "listSettings", "listExtensions"])
    await done(id)
  assert.equal((await done("listSkills"))[0].name, "greet")
  assert.equal((await done("connectMcpServer", { path: { id: "everything" } })).state, "connected")
  assert.equal((await done("listMcpServers")).length, 1)
  assert.equal((await done("listMcpOffers", { query: "?server=everything" })).resources.length, 7)
  assert.ok((await done("listMcpOffers", { query: "?search=architecture" })).resources[0].score > 0)
  const argument = { prompt: "completable-prompt", argument: "department", value: "M" }
  const { values } = await done("completeMcpArgument", { path: { id: "everything" }, body: argument })
  assert.deepEqual(values, ["Marketing"])
  assert.ok((await done("listTools", { query: "?search=add%20two%20numbers" }))[0].score > 0)
  await done("getTool", { path: { id: "everything_echo" } })
  await done("getAgent", { path: { id: "build" } })
  await done("routeRequest", { body: { request: "hello" } })

  const { id } = await done("createSession", { body: { title: "All of it", metadata: { a: 1 } } })
  const path = { id }
  const prompt = (words: string) => ({ path, body: { text: words }, headers: { prefer: "respond-async" } })
  await done("promptSession", prompt("go"))
  const { promptId } = await done("promptSession", prompt("and then"))
  assert.equal((await done("listPrompts", { path })).length, 1)
  await done("removePrompt", { path: { id, promptId } })
  for (const reply of ["always", "once"]) {
    const path = { id: await pending("listPermissions") }
    await done("replyPermission", { path, body: { reply } })
  }
  const question = { id: await pending("listElicitations") }
  assert.equal((await done("listQuestions"))[0].request.id, question.id)
  await done("replyElicitation", { path: question, body: { action: "decline" } })
  await until(async () => (await done("getSession", { path })).status === "idle", "the prompt ends")
  const source = { kind: "base64", value: image("note.png").toString("base64") }
  const parts = [{ type: "image", source, mode: "vision" }]
  await done("promptSession", { path, body: { text: "again", parts } })

  const messages = await done("listMessages", { path, query: "?all=true" })
  const types = new Set(messages.map(({ type }: { type: string }) => type))
  for (const type of ["text", "tool_request", "tool_result"]) assert.ok(types.has(type), type)
  assert.equal((await done("listSessions", { query: "?tasks=true" })).length, 1)
  const { hash } = messages.find(({ type }: { type: string }) => type === "image").data.stored
  await done("getImage", { path: { id, hash } })
  await done("getPlan", { path })
  await done("listTasks", { path })
  for (const one of ["getContext", "getCost", "exportSession", "exportMarkdown"]) await done(one, { path })
  assert.ok((await done("getStats", { query: "?since=0" })).prompts > 0)
  await done("updateSession", { path, body: { title: "Another title" } })
  await done("allowEdits", { path, body: { isAllowed: true } })
  await done("allowEdits", { path, body: { isAllowed: false } })
  await done("runShell", { path, body: { command: "echo hello" } })
  await done("listBranches", { path })
  await done("listGuardEvents", { path })
  await done("listStories", { path })
  await done("switchBranch", { path, body: { name: "try" } })
  await done("setMode", { path, body: { mode: "plan" } })
  await done("compactSession", { path })
  await done("leaveSession", { path, body: { reason: "other" } })
  const fork = await done("forkSession", { path, body: {} })
  const first = messages.find(({ type }: { type: string }) => type === "tool_request").id
  assert.match((await done("getDiff", { path })).text, /^\+a$/m)
  await done("revertSession", { path, body: { messageId: first } })
  assert.deepEqual((await done("redoSession", { path, body: {} })).restored, ["a.txt"])
  await done("abortSession", { path })
  const [grant] = await done("listGrants")
  await done("removeGrant", { path: { id: grant.id } })
  world.tmp.write(".vitamin/config.jsonc", "{}")
  const { changes } = await done("listUntrusted")
  await done("trustFiles", { body: { files: changes.map(({ path, hash }: Change) => ({ path, hash })) } })
  await done("storeKey", { path: { id: "groq" }, body: { key: "gsk-a-key-that-nobody-may-see" } })
  await done("getFirstChoice")
  await done("saveFirstChoice", { body: {} })
  await done("removeSession", { path: { id: fork.id } })
  await done("cancelMcpLogin", { path: { id: "everything" } })
  await done("cancelProviderLogin", { path: { id: "openrouter" } })
  await done("disconnectMcpServer", { path: { id: "everything" } })
  const ada = { name: "ada", role: "member" }
  assert.match((await done("createToken", { body: ada })).token, /^vitamin_ada_/)
  assert.equal((await done("listTokens")).length, 1)
  assert.equal((await done("shareSession", { path, body: ada })).shared.ada, "member")
  assert.ok((await done("listAudit")).length > 0)
  await done("removeToken", { path: { name: "ada" } })
  await done("createBrowserCode")
  await done("listBrowsers")
  // The stream is followed, event by event, in openapi-client.test.ts. Logins are in mcp-routes.test.ts and
  // setup-routes.test.ts, browsers and pictures of stories in test/edge/web, a push in test/edge/cli/cluster, and schedules,
  // which need a database, in test/edge/cluster.
  assert.deepEqual(
    checker.operations.filter((one) => !checker.done.has(one)),
    [
      "followEvents",
      "signInBrowser",
      "signOutBrowser",
      "pushSession",
      "getStoryPicture",
      "startMcpLogin",
      "waitForMcpLogin",
      "startProviderLogin",
      "waitForProviderLogin",
      "listSchedules",
      "createSchedule",
      "updateSchedule",
      "removeSchedule",
    ],
  )
})

/** Valid bodies of operations with an id, so that only the id is wrong. */
const bodies: Record<string, object> = {
  promptSession: { text: "hello" },
  forkSession: {},
  revertSession: { messageId: "msg_nope" },
  redoSession: {},
  pushSession: {},
  setMode: { mode: "plan" },
  switchBranch: { name: "try" },
  replyPermission: { reply: "once" },
  replyElicitation: { action: "decline" },
  completeMcpArgument: { prompt: "one", argument: "two" },
  updateSession: { title: "One" },
  runShell: { command: "true" },
  allowEdits: { isAllowed: true },
  leaveSession: { reason: "other" },
  storeKey: { key: "nothing" },
  signInBrowser: { code: "nothing" },
  trustFiles: { files: [{ path: "nothing" }] },
  shareSession: { name: "nobody", role: "reader" },
  updateSchedule: { paused: true },
}
/** Operations that this server, which has no database, cannot do. */
const needDatabase = ["updateSchedule", "removeSchedule"]

/** Operations that need no token, and their answers. */
const open: Record<string, number> = { getHealth: 200, signInBrowser: 403 }

test("an operation with an id answers 404 for an unknown one, and the document lists 404", async () => {
  await using world = await setUp([])
  const { send, checker, document } = world
  const about = checker.operations.filter((id) => checker.operation(id).path.includes("{"))
  assert.ok(about.length > 15)
  for (const id of about) {
    const { status } = await send(id, { body: bodies[id] })
    assert.equal(status, needDatabase.includes(id) ? 501 : 404, id)
  }
  for (const id of checker.operations) {
    const { status } = await send(id, { headers: { authorization: "Bearer wrong" }, body: bodies[id] })
    assert.equal(status, open[id] ?? 401, id)
  }
  for (const id of Object.keys(bodies))
    assert.equal(
      (await send(id, { headers: { "content-type": "text/plain" }, body: bodies[id] })).status,
      415,
      id,
    )
  const refused = await send("createSession", { body: { agent: "nobody" } })
  assert.deepEqual([refused.status, refused.body.error.name], [404, "Agent.NotFound"])
  assert.equal((await send("createSession", { body: { title: 5 } })).status, 400)
  const { body } = await send("createSession", { body: {} })
  const missing = await send("listMessages", { path: { id: body.id }, query: "?branch=nowhere" })
  assert.equal(missing.status, 404)
  assert.deepEqual(document.servers, [{ url: world.url }])
})
