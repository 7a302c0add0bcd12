// What is open while it happens: event streams, sockets of ACP, tasks of A2A and browsers of people.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { methods } from "@agentclientprotocol/sdk"
import { createStreamSink, type SinkEvents } from "#edge/server/event/event-sink.ts"
import { createEventStream } from "#edge/server/event/event-stream.ts"
import * as PersonalToken from "#edge/server/people/personal-token.ts"
import { createEventLog } from "#kernel/bus/event-log.ts"
import { Instance } from "#kernel/instance.ts"
import { vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { tmpdir } from "../../../fixture/tmpdir.ts"
import { until } from "../../../fixture/until.ts"
import { serveA2A, type Wire } from "../../a2a/harness.ts"
import { socketClient } from "../../acp/socket-harness.ts"
import { publish } from "../harness.ts"
import { type Member, onTeams, type Team } from "./harness.ts"

const on = methods.agent
const sentTo = (stream: ReturnType<Member["follow"]>) => stream.frames.map(({ data }) => data).join("\n")

onTeams(
  "a stream has the events of sessions that the person sees, also in replays and for other folders",
  async (startTeam) => {
    await using team = await startTeam([text("Blue."), text("Red."), text("Green.")])
    const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "member")]
    const directory = { "x-vitamin-directory": encodeURIComponent(team.tmp.path) }
    const streams = [bob.follow(), bob.follow(directory), bob.follow({ "last-event-id": "0" })]
    const own = ada.follow()
    for (const stream of [...streams, own]) await stream.opened
    const { id } = await ada.client.createSession({ title: "Secret plan" })
    await ada.client.promptSession({ id, text: "Which colour?" })
    await until(() => sentTo(own).includes('"session.idle"'), "Ada gets her events")
    assert.match(sentTo(own), /message\.delta/)
    // A session of his own shows that the stream works, and that all earlier events were passed over.
    const { id: marker } = await bob.client.createSession({ title: "Mine" })
    for (const stream of [...streams, bob.follow({ "last-event-id": "0" })]) {
      await until(() => sentTo(stream).includes(marker), "Bob gets his own events")
      assert.doesNotMatch(sentTo(stream), /Secret plan|Which colour|Blue/)
      assert.ok(!sentTo(stream).includes(id))
    }
    const [first] = streams
    await ada.client.shareSession({ id, name: "bob", role: "reader" })
    await until(() => first!.frames.some(({ data }) => data.includes(id)), "the shared session")
    await ada.client.promptSession({ id, text: "Another one?" })
    await until(() => sentTo(first!).includes("Red."), "its answer")
    // The share is ended by another process, whose events this server does not see.
    const { code, err } = await vitamin(team.tmp, ["session", "share", id, "bob", "--remove"])
    assert.equal(code, 0, err)
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    await ada.client.promptSession({ id, text: "A third?" })
    const { id: last } = await bob.client.createSession()
    await until(() => sentTo(first!).includes(last), "the end")
    assert.doesNotMatch(sentTo(first!), /Green|A third/)
    for (const stream of [...streams, own]) stream.drop()
  },
)

test("a heartbeat does not move a person's cursor past an event that is being looked up", async () => {
  await using tmp = await tmpdir()
  const log = createEventLog({ directory: join(tmp.path, "events") })
  const stream = createEventStream({ log, heartbeat: 10, stall: 10_000 })
  const looking = Promise.withResolvers<void>()
  const filter = async (frames: Buffer) => {
    await looking.promise
    return frames
  }
  let body: ReadableStream<Uint8Array> | undefined
  const connect = (events: SinkEvents) => {
    const made = createStreamSink(events)
    body = made.body
    return made.sink
  }
  stream.open(connect, { filter })
  await publish(tmp.path, [1])
  await new Promise((resolve) => setTimeout(resolve, 200))
  looking.resolve()
  let seen = ""
  for await (const bytes of body!) {
    seen += Buffer.from(bytes).toString()
    if (/test\.tick[\s\S]*heartbeat/.test(seen)) break
  }
  const [before, after] = seen.split(/(?=id: \d+\nevent: test\.tick)/)
  assert.doesNotMatch(before!, new RegExp(`^id: ${stream.lastId()}$`, "m"))
  assert.match(after!, new RegExp(`: heartbeat\nid: ${stream.lastId()}\n`))
  stream.close()
  log.close()
  await Instance.disposeAll()
})

onTeams(
  "revoking a token ends what the person has open: streams, a waiting prompt, sockets",
  async (startTeam) => {
    const stall = { ...text("Late."), fault: { kind: "stall" as const, bytes: 0 } }
    for (const how of ["route", "command"] as const) {
      await using team = await startTeam([stall])
      const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "member")]
      const [stream, others] = [ada.follow(), bob.follow()]
      await Promise.all([stream.opened, others.opened])
      const socket = await acpOf(team, ada)
      const { id } = await ada.client.createSession()
      const waiting = ada.fetch("POST", `/session/${id}/message`, { text: "go" }).then(
        () => "answered",
        () => "cut off",
      )
      await until(() => team.llm.requests.length === 1, "the model is asked")
      if (how === "route") await team.owner.client.removeToken({ name: "ada" })
      else assert.equal((await vitamin(team.tmp, ["token", "remove", "ada"])).code, 0)
      await Promise.all([stream.closed, socket.closed])
      assert.equal(await waiting, "cut off")
      assert.equal(await ada.status("GET", "/session"), 401)
      assert.equal(await bob.status("GET", "/session"), 200)
      // The same person with another role: the old token stays dead, the sessions are theirs again.
      const again = await team.add("ada", "reader")
      assert.equal(await ada.status("GET", "/session"), 401)
      assert.equal((await again.client.getSession({ id })).person, "ada")
      assert.equal(await again.status("POST", `/session/${id}/message`, { text: "go" }), 403)
      assert.ok(await Promise.race([others.closed.then(() => false), Promise.resolve(true)]))
      others.drop()
    }
  },
)

onTeams("an expired token ends a stream", async (startTeam) => {
  await using team = await startTeam()
  const ada = await team.add("ada", "member", { expires: Date.now() + 4_000 })
  const stream = ada.follow()
  await stream.opened
  await stream.closed
  assert.equal(await ada.status("GET", "/session"), 401)
})

async function acpOf(team: Team, person: Member) {
  const file = team.tmp.write(`token-of-${person.token!.split("_")[1]}`, `${person.token}\n`)
  return socketClient({ url: team.url, tokenFile: file })
}

onTeams(
  "over ACP a person has their own sessions, and those that are shared with them as a member",
  async (startTeam) => {
    await using team = await startTeam([text("For Ada."), text("For Bob.")])
    const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "member")]
    await using first = await acpOf(team, ada)
    const { sessionId } = await first.open(team.tmp.path)
    await first.prompt(sessionId, "hello")
    assert.equal((await ada.client.getSession({ id: sessionId })).person, "ada")

    await using second = await acpOf(team, bob)
    const { sessions } = await second.agent.request(on.session.list, {})
    assert.deepEqual(sessions, [])
    const load = () =>
      second.agent.request(on.session.load, { sessionId, cwd: team.tmp.path, mcpServers: [] })
    await assert.rejects(load(), /does not exist/)
    await assert.rejects(
      second.agent.request(on.session.resume, { sessionId, cwd: team.tmp.path, mcpServers: [] }),
      /does not exist/,
    )
    await assert.rejects(second.prompt(sessionId, "mine now"))
    // The protocol wants a session that does not exist to count as deleted.
    await second.agent.request(on.session.delete, { sessionId })
    assert.equal((await ada.client.getSession({ id: sessionId })).title, "hello")
    await ada.client.shareSession({ id: sessionId, name: "bob", role: "reader" })
    await assert.rejects(load(), /Only its owner/)
    await ada.client.shareSession({ id: sessionId, name: "bob", role: "member" })
    await load()
    assert.match(second.text(), /For Ada/)
    await second.prompt(sessionId, "and me")
    await assert.rejects(second.agent.request(on.session.delete, { sessionId }), /Only its owner/)
    // The end of the share ends the prompts.
    await ada.client.shareSession({ id: sessionId, name: "bob", role: null })
    await assert.rejects(second.prompt(sessionId, "once more"))

    const rita = await team.add("rita", "reader")
    await assert.rejects(acpOf(team, rita))
  },
)

test("over A2A the tasks and contexts of others are missing", async () => {
  await using tmp = await tmpdir({ git: true })
  const [ada, bob] = await Promise.all(
    ["ada", "bob"].map(async (name) => (await PersonalToken.create({ name, role: "member" })).token),
  )
  await using llm = await fakeLlm([call("write", { path: "a.txt", content: "a" }), text("Done.")])
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const as = (token: string | undefined) => async (method: string, params: unknown) => {
    const response = await fetch(`${served.url}/a2a`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "a2a-version": "1.0",
        authorization: `Bearer ${token ?? served.token}`,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    })
    return (await response.json()) as Wire
  }
  const [byAda, byBob, byOwner] = [as(ada), as(bob), as(undefined)]
  const message = (more: object = {}) => ({
    message: { messageId: `m${Math.random()}`, role: "ROLE_USER", parts: [{ text: "write it" }], ...more },
  })
  const { result } = await byAda("SendMessage", message())
  const { id, contextId } = result.task
  assert.equal(result.task.status.state, "TASK_STATE_INPUT_REQUIRED")

  for (const [method, params] of [
    ["GetTask", { id }],
    ["CancelTask", { id }],
    ["SubscribeToTask", { id }],
    ["SendMessage", message({ taskId: id })],
    ["ListTaskPushNotificationConfigs", { taskId: id }],
    ["CreateTaskPushNotificationConfig", { taskId: id, url: "https://example.com/" }],
  ] as const) {
    const { error } = await byBob(method, params)
    assert.equal(error?.code, -32001, `${method}: ${JSON.stringify(error)}`)
  }
  assert.match((await byBob("SendMessage", message({ contextId }))).error.message, /somebody else/)
  const tasks = async (by: typeof byAda) => (await by("ListTasks", {})).result.tasks.length
  assert.deepEqual([await tasks(byAda), await tasks(byBob), await tasks(byOwner)], [1, 0, 1])
  assert.equal((await byAda("CancelTask", { id })).result.status.state, "TASK_STATE_CANCELED")
})

onTeams(
  "a browser acts for the person whose code it used, until their token is revoked",
  async (startTeam) => {
    await using team = await startTeam()
    const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "reader")]
    const { id } = await ada.client.createSession()
    const signIn = async (code: string) => {
      const response = await fetch(`${team.url}/browser`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code }),
      })
      const cookie = response.headers.get("set-cookie")!.split(";")[0]!
      const { key } = (await response.json()) as { key: string }
      const page = { cookie, "x-vitamin-page": key, origin: team.url }
      return (method: string, path: string, body?: unknown) =>
        team.as(undefined).status(method, path, body, page)
    }
    const adas = await signIn((await ada.client.createBrowserCode()).code)
    const bobs = await signIn((await bob.client.createBrowserCode()).code)
    assert.deepEqual([await adas("GET", `/session/${id}`), await bobs("GET", `/session/${id}`)], [200, 404])
    assert.deepEqual([await adas("POST", "/session", {}), await bobs("POST", "/session", {})], [200, 403])
    assert.equal(await adas("GET", "/token"), 403)
    // Only an admin makes a code for somebody else.
    assert.equal(await bob.status("POST", "/browser/code?person=ada"), 403)
    const { out } = await vitamin(team.tmp, ["web", "--port", new URL(team.url).port, "--person", "ada"])
    const sent = await signIn(/#code=([\w-]+)/.exec(out)![1]!)
    assert.equal(await sent("GET", `/session/${id}`), 200)
    const browsers = await bob.client.listBrowsers()
    assert.deepEqual(
      browsers.map(({ person }) => person),
      ["bob"],
    )
    const all = await team.owner.client.listBrowsers()
    assert.equal(all.length, 3)
    const foreign = all.find(({ person }) => person === "ada")!
    assert.equal(await bob.status("DELETE", `/browser/${foreign.id}`), 404)
    // Nobody pushes the browsers or the codes of others out.
    const { code } = await ada.client.createBrowserCode()
    for (let n = 0; n < 60; n++) await signIn((await bob.client.createBrowserCode()).code)
    for (let n = 0; n < 30; n++) await bob.client.createBrowserCode()
    assert.equal(await adas("GET", `/session/${id}`), 200)
    assert.equal(await (await signIn(code))("GET", `/session/${id}`), 200)
    const counted = await bob.client.listBrowsers()
    assert.equal(counted.length, 50)
    const again = await signIn((await bob.client.createBrowserCode()).code)

    await team.owner.client.removeToken({ name: "ada" })
    await team.add("ada", "admin")
    assert.deepEqual([await adas("GET", "/session"), await sent("GET", "/session")], [401, 401])
    assert.equal(await again("GET", "/session"), 200)
  },
)
