// Sessions over HTTP and the event stream, with a real `vitamin serve`.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { test } from "node:test"
import { allTools } from "../../../fixture/builtin-tools.ts"
import { serving } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, stall, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"

type Serving = Awaited<ReturnType<typeof serving>>
type Answer = { status: number; body: Record<string, unknown> & { id?: string } }

function client({ url, tokenFile }: Serving) {
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  return async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Answer["body"] }
  }
}

/** Collects event types until the given one arrives. */
async function eventsUntil(
  { url, tokenFile }: Serving,
  last: string,
  act: () => Promise<unknown>,
): Promise<string[]> {
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`
  const response = await fetch(`${url}/event`, { headers: { authorization } })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  const acting = act()
  let all = ""
  while (!all.includes(`event: ${last}\n`)) all += (await reader.read()).value
  await acting
  await reader.cancel()
  return [...all.matchAll(/^event: (.+)$/gm)].map(([, type]) => type!)
}

test("POST /session/:id/message answers with the final message, and SSE sends every step", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("read", { path: "README.md" }), text("It is a fixture.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const api = client(server)
  const { body: session } = await api("POST", "/session", {})
  let answer: Answer | undefined
  const types = await eventsUntil(server, "session.idle", async () => {
    answer = await api("POST", `/session/${session.id}/message`, { text: "What is this?" })
  })
  assert.equal(answer?.status, 200)
  assert.equal(JSON.stringify(answer?.body).includes("It is a fixture."), true)
  const order = ["message.created", "message.delta", "session.updated", "session.idle"]
  for (const type of order) assert.ok(types.includes(type), `${type} in ${types}`)
  assert.equal(types.filter((type) => type === "message.created").length, 4)
  const { body } = await api("GET", `/session/${session.id}/message`)
  assert.deepEqual(
    (body as unknown as { type: string }[]).map(({ type }) => type),
    ["text", "tool_request", "tool_result", "text"],
  )
})

test("GET /session/:id/message with last gives the newest messages, idle or busy, and refuses other words", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("read", { path: "README.md" }),
    text("It is a fixture."),
    stall(text("never said"), 10),
  ])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const api = client(server)
  const { body: session } = await api("POST", "/session", {})
  const path = `/session/${session.id}/message`
  const typesOf = async (query: string) => {
    const { body } = await api("GET", path + query)
    return (body as unknown as { type: string }[]).map(({ type }) => type)
  }
  await api("POST", path, { text: "What is this?" })
  assert.deepEqual(await typesOf("?last=2"), ["tool_result", "text"])
  assert.deepEqual(await typesOf("?last=9"), ["text", "tool_request", "tool_result", "text"])
  assert.deepEqual(await typesOf("?last=1&all=true"), ["text"])
  for (const words of ["0", "-1", "all", ""])
    assert.equal((await api("GET", `${path}?last=${words}`)).status, 400, words)
  await api("POST", path, { text: "and now?" }, { prefer: "respond-async" })
  await until(() => llm.requests.length === 3, "the third request")
  assert.deepEqual(await typesOf("?last=2"), ["text", "text"])
})

test("Prefer: respond-async answers at once with 202 and the turn goes on", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("later")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const api = client(server)
  const { body: session } = await api("POST", "/session", { title: "mine" })
  const types = await eventsUntil(server, "session.idle", async () => {
    const { status } = await api(
      "POST",
      `/session/${session.id}/message`,
      { text: "go" },
      { prefer: "respond-async" },
    )
    assert.equal(status, 202)
  })
  assert.ok(types.includes("message.created"))
  assert.equal((await api("GET", `/session/${session.id}`)).body.status, "idle")
})

test("Prefer: respond-async refuses invalid prompts, and prompts that must not wait, at once", async () => {
  await using tmp = await tmpdir()
  await using llm = await fakeLlm([text("slow", { delay: 100, deltas: 4 })])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const api = client(server)
  const { body: session } = await api("POST", "/session", {})
  const prompt = async (body: object) =>
    (await api("POST", `/session/${session.id}/message`, body, { prefer: "respond-async" })).status
  assert.equal(await prompt({ text: "  " }), 400)
  await eventsUntil(server, "session.idle", async () => {
    assert.equal(await prompt({ text: "go" }), 202)
    assert.equal(await prompt({ text: "and", whenBusy: "refuse" }), 409)
  })
})

test("session routes list, fork, abort and remove sessions, and answer 404 for unknown ones", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("a")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const api = client(server)
  const { body: session } = await api("POST", "/session", {})
  await api("POST", `/session/${session.id}/message`, { text: "q" })
  const forked = await api("POST", `/session/${session.id}/fork`, {})
  assert.equal(forked.status, 200)
  assert.equal(forked.body.parentId, session.id)
  assert.equal(((await api("GET", "/session")).body as unknown as unknown[]).length, 2)
  assert.deepEqual((await api("POST", `/session/${session.id}/abort`)).body, { aborted: false })
  assert.equal((await api("DELETE", `/session/${session.id}`)).status, 200)
  assert.equal((await api("GET", `/session/${session.id}`)).status, 404)
  assert.equal((await api("POST", "/session/sess_none/message", { text: "x" })).status, 404)
  assert.equal((await api("POST", `/session/${forked.body.id}/fork`, { messageId: "msg_none" })).status, 404)
  assert.equal((await api("POST", `/session/${forked.body.id}/message`, {})).status, 400)
  assert.equal((await api("POST", `/session/${forked.body.id}/message`, { text: 5 })).status, 400)
})

for (const state of ["idle", "busy"])
  test(`DELETE /session/:id of ${state === "idle" ? "an idle" : "a busy"} session leaves nothing of it in the store`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm(({ messages }) =>
      messages.at(-1)!.text === "busy" ? stall(text("on and on", { deltas: 6 }), 900) : text("Done."),
    )
    const server = await serving(tmp, [], env(llm, "chat").variables)
    await using _ = server.child
    const api = client(server)
    const { id } = (await api("POST", "/session", {})).body
    const answer = api("POST", `/session/${id}/message`, { text: state })
    if (state === "idle") await answer
    else await until(async () => llm.requests.length > 0)
    assert.equal((await api("DELETE", `/session/${id}`)).status, 200)
    await answer
    const left = readdirSync(tmp.env.XDG_DATA_HOME!, { recursive: true, encoding: "utf8" })
    assert.deepEqual(
      left.filter((path) => path.includes(id!)),
      [],
    )
  })

test("GET /openapi.json describes the session routes", async () => {
  await using tmp = await tmpdir()
  const server = await serving(tmp)
  await using _ = server.child
  const { body } = await client(server)("GET", "/openapi.json")
  const paths = body.paths as Record<string, Record<string, { responses: object }>>
  for (const path of [
    "/session",
    "/session/{id}",
    "/session/{id}/message",
    "/session/{id}/fork",
    "/session/{id}/abort",
  ])
    assert.ok(path in paths, path)
  const answers = (path: string, method: string) => Object.keys(paths[path]![method]!.responses)
  for (const [path, methods] of Object.entries(paths))
    if (path.startsWith("/session/{id}"))
      for (const method of Object.keys(methods)) assert.ok(answers(path, method).includes("404"), path)
  // It may be stopped, or busy.
  assert.ok(answers("/session/{id}/message", "post").includes("409"))
  assert.ok(answers("/session/{id}", "delete").includes("409"))
})

test("GET /provider and GET /tool list providers and tools", async () => {
  await using tmp = await tmpdir()
  const server = await serving(tmp, [], { ANTHROPIC_API_KEY: "sk-canary-000111222", OPENAI_API_KEY: "" })
  await using _ = server.child
  const api = client(server)
  const providers = (await api("GET", "/provider")).body as unknown as {
    id: string
    hasKey: boolean
    models: unknown[]
  }[]
  assert.ok(providers.length >= 25)
  const anthropic = providers.find(({ id }) => id === "anthropic")!
  assert.equal(anthropic.hasKey, true)
  assert.ok(anthropic.models.length > 5)
  assert.equal(providers.find(({ id }) => id === "openai")!.hasKey, false)
  assert.doesNotMatch(JSON.stringify(providers), /canary/)
  const tools = (await api("GET", "/tool")).body as unknown as { id: string }[]
  // The tools of specialists depend on the machine.
  const ids = tools.map(({ id }) => id)
  assert.deepEqual(
    allTools.filter((id) => !ids.includes(id)),
    [],
  )
  assert.equal((await api("GET", "/tool/read")).body.readOnly, true)
  const missing = await api("GET", "/tool/raed")
  assert.equal(missing.status, 404)
  assert.match(JSON.stringify(missing.body), /Available: bash, .*read/)
})

test("a prompt that is stopped answers 409 with the reason", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([stall(text("never said"), 10)])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const api = client(server)
  const { body: session } = await api("POST", "/session", {})
  const answer = api("POST", `/session/${session.id}/message`, { text: "Wait" })
  await until(() => llm.requests.length > 0, "the model is asked")
  assert.deepEqual((await api("POST", `/session/${session.id}/abort`)).body, { aborted: true })
  const { status, body } = await answer
  assert.deepEqual([status, (body.error as { name: string }).name], [409, "Session.Interrupted"])
})
