// Every route through both transports, on real parts: the same walk gives the same results and the same errors.
import assert from "node:assert/strict"
import { test } from "node:test"
import type { Client, StreamEvent } from "#client/client.ts"
import { routes } from "#client/routes.ts"
import { call, calls, text } from "../fixture/fake-llm.ts"
import { image } from "../fixture/images.ts"
import { until } from "../fixture/until.ts"
import { kinds, normal, startWorld, type World } from "./harness.ts"

type Called = { id: string; result: unknown }

const script = () => [
  calls([
    call("write", { path: "a.txt", content: "a" }),
    call("todo", { todos: [{ text: "one", status: "pending" }] }),
  ]),
  call("everything_trigger-elicitation-request", {}),
  text("Done."),
  text("Again."),
  text("A summary."),
]

/** A client that records every call with its result. */
function recording(client: Client, called: Called[]): Client {
  return new Proxy(
    { ...client },
    {
      get: (target, id: keyof Client) =>
        id === "events"
          ? target.events
          : async (...given: unknown[]) => {
              const result = await (target[id] as (...given: unknown[]) => Promise<unknown>)(...given)
              called.push({ id, result })
              return result
            },
    },
  )
}

async function walk({ client, tmp }: World, quiet: Client): Promise<void> {
  const pending = async (list: "listPermissions" | "listElicitations") => {
    await until(async () => (await quiet[list]()).length > 0, `${list} has one`)
    return (await client[list]())[0]!.id
  }
  const idle = (id: string) =>
    until(async () => (await quiet.getSession({ id })).status === "idle", "the prompt ends")
  await client.getHealth()
  await client.getInfo()
  await client.getConfig()
  assert.ok((await client.listSettings()).layers.some(({ source }) => source === "project"))
  await client.getOpenapi()
  await client.listProviders()
  await client.listAgents()
  await client.getAgent({ id: "build" })
  assert.equal((await client.routeRequest({ request: "hello" })).agent, "build")
  await client.listSkills()
  await client.listExtensions()
  await client.connectMcpServer({ id: "everything" })
  await client.listMcpServers()
  await client.listMcpOffers({ server: "everything" })
  await client.completeMcpArgument({
    id: "everything",
    prompt: "completable-prompt",
    argument: "department",
    value: "M",
  })
  await client.listTools({ search: "add two numbers" })
  await client.getTool({ id: "everything_echo" })
  assert.ok((await client.listUsableModels()).some(({ id }) => id === "rules"))
  assert.ok((await client.completeFile({ search: "readme" }))[0]?.path === "README.md")
  assert.deepEqual(
    (await client.listCommands()).map(({ name }) => name).filter((name) => !name.includes("args")),
    ["greet", "everything:completable-prompt", "everything:resource-prompt", "everything:simple-prompt"],
  )

  const { id } = await client.createSession({ title: "All of it", metadata: { a: 1 } })
  const { output } = await client.runShell({ id, command: "echo from the shell; pwd" })
  assert.match(output, /^from the shell\n/)
  await client.promptSession({ id, text: "go", prefer: "respond-async" })
  const { promptId } = await client.promptSession({ id, text: "and then", prefer: "respond-async" })
  await client.listPrompts({ id })
  await client.removePrompt({ id, promptId })
  await client.replyPermission({ id: await pending("listPermissions"), reply: "always" })
  await client.replyPermission({ id: await pending("listPermissions"), reply: "once" })
  await client.replyElicitation({ id: await pending("listElicitations"), action: "decline" })
  await idle(id)
  const source = { kind: "base64" as const, value: image("note.png").toString("base64") }
  const parts = [{ type: "image" as const, source, mode: "vision" as const }]
  const answer = await client.promptSession({ id, text: "again", parts })
  assert.ok(answer.type === "text")
  const messages = await client.listMessages({ id, all: true })
  const shown = messages.find(({ type }) => type === "image")!
  assert.ok(shown.type === "image")
  await client.getImage({ id, hash: shown.data.stored!.hash })
  await client.listSessions({ tasks: true })
  await client.listTasks({ id })
  await client.listQuestions()
  await client.getSession({ id })
  await client.getPlan({ id })
  assert.ok((await client.getContext({ id })).parts.tools > 0)
  assert.equal((await client.getCost({ id })).rows[0]?.agent, "build")
  assert.equal((await client.getStats({ since: "9".repeat(15) })).sessions, 0)
  await client.updateSession({ id, title: "Another title" })
  await client.allowEdits({ id, isAllowed: true })
  await client.listGrants()
  await client.allowEdits({ id, isAllowed: false })
  await client.exportSession({ id })
  await client.exportMarkdown({ id })
  await client.listBranches({ id })
  await client.listGuardEvents({ id })
  await client.listStories({ id })
  await client.switchBranch({ id, name: "try" })
  await client.setMode({ id, mode: "plan" })
  await client.compactSession({ id })
  await client.leaveSession({ id, reason: "other" })
  const fork = await client.forkSession({ id })
  const { name } = await quiet.createToken({ name: "ada", role: "member" })
  await client.listTokens()
  await client.shareSession({ id, name, role: "reader" })
  await client.removeToken({ name })
  const first = messages.find(({ type }) => type === "tool_request")!.id
  await client.getDiff({ id })
  await client.revertSession({ id, messageId: first })
  assert.deepEqual((await client.redoSession({ id })).restored, ["a.txt"])
  await client.abortSession({ id })
  const [grant] = await client.listGrants()
  await client.removeGrant({ id: grant!.id })
  await client.removeSession({ id: fork.id })
  assert.deepEqual(await client.cancelMcpLogin({ id: "everything" }), { cancelled: false })
  assert.deepEqual(await client.cancelProviderLogin({ id: "openrouter" }), { cancelled: false })
  await client.disconnectMcpServer({ id: "everything" })
  assert.equal((await client.getFirstChoice()).isNeeded, false)
  await client.saveFirstChoice({ model: "local/rules" })
  await client.storeKey({ id: "groq", key: "gsk-a-key-that-nobody-may-see" })
  assert.ok((await client.listProviders()).find(({ id }) => id === "groq")!.hasKey)
  tmp.write(".vitamin/config.jsonc", '{ "model": "openai/fake-model" }')
  const { changes, isTrusted } = await client.listUntrusted()
  assert.deepEqual([isTrusted, changes.map(({ path }) => path)], [true, [".vitamin/config.jsonc"]])
  assert.match(changes[0]!.diff!, /fake-model/)
  await client.trustFiles({ files: [{ path: changes[0]!.path, hash: changes[0]!.hash! }] })
  assert.deepEqual((await client.listUntrusted()).changes, [])
}

/** They need somebody to sign in to: mcp-login.test.ts and provider-login.test.ts of test/edge/tui call them over HTTP and in
 * the same process. */
const signingIn = ["startMcpLogin", "waitForMcpLogin", "startProviderLogin", "waitForProviderLogin"]
/** There is no page in the same process: test/edge/web calls them over HTTP. */
const ofThePage = ["createBrowserCode", "signInBrowser", "listBrowsers", "signOutBrowser", "getStoryPicture"]
/** The answers differ, a random token and the log of a server: test/edge/server/people calls them. */
const ofPeople = ["createToken", "listAudit"]
/** It needs a project that is a git repository: test/edge/cli/cluster. */
const ofProjects = ["pushSession"]
/** They need a database: test/edge/cluster. */
const ofSchedules = ["listSchedules", "createSchedule", "updateSchedule", "removeSchedule"]

test("every route gives the same results over HTTP and in the same process", async () => {
  const seen: { called: Called[]; events: string[] }[] = []
  for (const kind of kinds) {
    await using world = await startWorld(kind, script())
    const called: Called[] = []
    const events: StreamEvent[] = []
    const ending = new AbortController()
    const followed = (async () => {
      for await (const event of world.client.events({ signal: ending.signal })) events.push(event)
    })()
    await until(() => events.length > 0, "the stream is open")
    await walk({ ...world, client: recording(world.client, called) }, world.client)
    await until(() => events.at(-1)?.type !== undefined, "events")
    ending.abort()
    await followed
    const plain = normal(called, world) as Called[]
    seen.push({ called: plain, events: [...new Set(events.map(({ type }) => type))].sort() })
  }
  const [http, local] = seen
  assert.deepEqual(
    local!.called.map(({ id }) => id),
    http!.called.map(({ id }) => id),
  )
  for (const [i, { id, result }] of http!.called.entries())
    if (id !== "getOpenapi") assert.deepEqual(local!.called[i]!.result, result, id)
  assert.deepEqual(local!.events, http!.events)
  const walked = new Set([
    ...http!.called.map(({ id }) => id),
    ...signingIn,
    ...ofThePage,
    ...ofPeople,
    ...ofProjects,
    ...ofSchedules,
  ])
  assert.deepEqual([...walked].sort(), Object.keys(routes).sort())
})

/** Inputs of routes with an id that fit in everything but the id. */
const inputs: Record<string, object> = {
  promptSession: { text: "hello" },
  revertSession: { messageId: "msg_nope" },
  redoSession: {},
  setMode: { mode: "plan" },
  switchBranch: { name: "try" },
  replyPermission: { reply: "once" },
  replyElicitation: { action: "decline" },
  completeMcpArgument: { prompt: "one", argument: "two" },
  runShell: { command: "true" },
  allowEdits: { isAllowed: true },
  leaveSession: { reason: "other" },
  storeKey: { key: "nothing" },
  shareSession: { role: "reader" },
  updateSchedule: { paused: true },
}

/** Wrong calls, each with the error that it must give. */
async function errors({ client }: World): Promise<unknown[]> {
  const failure = (id: string, input: object) =>
    (client[id as "getSession"] as (input: object) => Promise<unknown>)(input).then(
      () => assert.fail(`${id} answered`),
      ({ name, message, status, data }) => ({ id, name, message, status, data }),
    )
  const about = Object.entries(routes).filter(([, { path }]) => path.includes(":"))
  const unknown = []
  // One after the other: a session that one call looks for is busy for another.
  for (const [id] of about)
    unknown.push(
      await failure(id, {
        id: "nope",
        name: "nope",
        promptId: "nope",
        hash: "nope",
        callId: "nope",
        number: "1",
        ...inputs[id],
      }),
    )
  return Promise.all([
    ...unknown,
    failure("createSession", { title: 5 }),
    failure("createSession", { agent: "nobody" }),
    failure("listSessions", { tasks: "maybe" }),
    failure("getSession", { id: ".." }),
    failure("getSession", {}),
    failure("trustFiles", { files: [{ path: ".mcp.json", hash: "0".repeat(64) }] }),
    failure("trustFiles", { files: [] }),
    failure("getHealth", { "x-vitamin-challenge": "nothing hexadecimal" }),
  ])
}

test("wrong calls give the same errors over HTTP and in the same process", async () => {
  const seen: unknown[] = []
  for (const kind of kinds) {
    await using world = await startWorld(kind, [])
    seen.push(normal(await errors(world), world))
  }
  const [http, local] = seen as { id: string; status: number; name: string }[][]
  assert.deepEqual(local, http)
  for (const { id, status, name } of http!.slice(0, -8))
    assert.equal(status, ofSchedules.includes(id) ? 501 : 404, `${id}: ${name}`)
  assert.deepEqual(
    http!.slice(-8).map(({ status }) => status),
    [400, 404, 400, 400, 400, 409, 400, 400],
  )
})

test("an aborted call throws the reason of its signal, over HTTP and in the same process", async () => {
  for (const kind of kinds) {
    await using world = await startWorld(kind, [{ ...text("Late."), fault: { kind: "stall", bytes: 0 } }])
    const { id } = await world.client.createSession()
    const ending = new AbortController()
    const answer = world.client.promptSession({ id, text: "go" }, { signal: ending.signal })
    await until(() => world.llm.requests.length === 1, "the model is asked")
    ending.abort(new Error("no longer wanted"))
    await assert.rejects(answer, { message: "no longer wanted" }, kind)
    assert.equal((await world.client.getSession({ id })).status, "busy")
    await world.client.abortSession({ id })
  }
})
