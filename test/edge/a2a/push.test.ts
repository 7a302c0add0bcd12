// Push notifications go only where the rules let them, to the address that was checked, and follow no redirect.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { say, serveA2A, taskOf, type Wire } from "./harness.ts"

type Post = { path: string; headers: IncomingHttpHeaders; body: Wire }

/** A server of a client. It answers /moved with a redirect, every second request of /flaky with 503, all else with 200. */
async function receiver() {
  const posts: Post[] = []
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const part of request) body += part
    posts.push({ path: request.url!, headers: request.headers, body: JSON.parse(body || "null") })
    if (request.url === "/moved") return void response.writeHead(302, { location: "/elsewhere" }).end()
    const isOdd = posts.filter(({ path }) => path === "/flaky").length % 2 === 1
    response.writeHead(request.url === "/flaky" && isOdd ? 503 : 200).end()
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    posts,
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function configured(url: string, more: Record<string, unknown> = {}) {
  return {
    configuration: {
      acceptedOutputModes: [],
      returnImmediately: false,
      taskPushNotificationConfig: {
        tenant: "",
        id: "",
        taskId: "",
        url,
        token: "",
        authentication: undefined,
        ...more,
      },
    },
  }
}

test("each change of a task is posted in order, with the credentials of the client", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done."), text("Done.")])
  await using hook = await receiver()
  await using served = await serveA2A(tmp, {
    args: ["--allow", `network.fetch:${hook.url}/*`],
    env: env(llm, "chat").variables,
  })
  const client = await served.client()
  const authentication = { scheme: "Bearer", credentials: "of-the-client" }
  const task = taskOf(
    await client.sendMessage(say("go", {}, configured(`${hook.url}/a`, { authentication }))),
  )
  await until(() => hook.posts.length === 3, "three notifications")
  assert.deepEqual(
    hook.posts.map(
      ({ body }) => body.statusUpdate?.status.state ?? body.artifactUpdate.artifact.parts[0].text,
    ),
    ["TASK_STATE_WORKING", "Done.", "TASK_STATE_COMPLETED"],
  )
  const [first] = hook.posts
  assert.equal(first!.body.statusUpdate.taskId, task.id)
  assert.equal(first!.headers.authorization, "Bearer of-the-client")
  assert.equal(first!.headers["content-type"], "application/a2a+json")
  await client.sendMessage(say("go", {}, configured(`${hook.url}/b`, { token: "my token" })))
  await until(() => hook.posts.length === 6)
  assert.equal(hook.posts[3]!.headers["x-a2a-notification-token"], "my token")
})

test("a notification that fails is sent again before the next one", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  await using hook = await receiver()
  await using served = await serveA2A(tmp, {
    args: ["--allow", `network.fetch:${hook.url}/*`],
    env: env(llm, "chat").variables,
  })
  await (await served.client()).sendMessage(say("go", {}, configured(`${hook.url}/flaky`)))
  await until(() => hook.posts.length === 6)
  const sent = hook.posts.map(({ body }) => JSON.stringify(body))
  assert.deepEqual([sent[0], sent[2], sent[4]], [sent[1], sent[3], sent[5]])
  assert.equal(new Set(sent).size, 3)
})

test("a redirect is not followed", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("Done.")])
  await using hook = await receiver()
  await using served = await serveA2A(tmp, {
    args: ["--allow", `network.fetch:${hook.url}/*`],
    env: env(llm, "chat").variables,
  })
  await (await served.client()).sendMessage(say("go", {}, configured(`${hook.url}/moved`)))
  await until(() => hook.posts.length === 3)
  assert.deepEqual(new Set(hook.posts.map(({ path }) => path)), new Set(["/moved"]))
})

const refused = {
  loopback: "http://127.0.0.1:9/hook",
  "loopback as a number": "http://2130706433/hook",
  "IPv6 loopback": "http://[::1]:9/hook",
  localhost: "http://localhost:9/hook",
  "a private network": "http://10.0.0.1/hook",
  "a metadata service": "http://169.254.169.254/latest/meta-data",
  "a mapped address": "http://[::ffff:192.168.0.1]/hook",
  "another scheme": "file:///etc/passwd",
  "user info": "http://me:pw@93.184.216.34/hook",
  "a line break": "http://93.184.216.34/\r\nx: y",
  "no URL": "hook",
}

test("private, malformed and other push addresses are refused, with the message and later", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Done."))
  await using served = await serveA2A(tmp, { env: env(llm, "chat").variables })
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "go" }] }
  for (const [what, url] of Object.entries(refused)) {
    const configuration = { taskPushNotificationConfig: { url } }
    assert.equal((await served.rpc("SendMessage", { message, configuration })).error?.code, -32602, what)
  }
  assert.equal(llm.requests.length, 0)
  const { result } = await served.rpc("SendMessage", { message })
  const taskId = result.task.id
  for (const [what, url] of Object.entries(refused))
    assert.equal(
      (await served.rpc("CreateTaskPushNotificationConfig", { taskId, url })).error?.code,
      -32602,
      what,
    )
  assert.deepEqual((await served.rpc("ListTaskPushNotificationConfigs", { taskId })).result, {})
})

test("a push configuration has plain texts of bounded size, and a task has at most 20", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Done."))
  const args = ["--allow", "network.fetch:http://127.0.0.1:9/*"]
  await using served = await serveA2A(tmp, { args, env: env(llm, "chat").variables })
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "go" }] }
  const taskId = (await served.rpc("SendMessage", { message })).result.task.id
  const create = (more: object) =>
    served.rpc("CreateTaskPushNotificationConfig", { taskId, url: "http://127.0.0.1:9/", ...more })
  const wrong = [
    { token: "a\r\nx-evil: 1" },
    { token: "t".repeat(4_001) },
    { authentication: { scheme: "Bearer\r\nx-evil: 1", credentials: "a" } },
    { authentication: { scheme: "Bearer", credentials: "a\u0000" } },
  ]
  for (const more of wrong) assert.equal((await create(more)).error?.code, -32602, JSON.stringify(more))
  for (let i = 0; i < 20; i++) assert.ok((await create({ id: `p${i}` })).result)
  assert.equal((await create({ id: "p20" })).error?.code, -32602)
  assert.ok((await create({ id: "p0", token: "new" })).result, "one of the 20 can be replaced")
})

test("a wildcard rule does not open private push addresses, and a deny rule closes public ones", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(() => text("Done."))
  const args = ["--allow", "network.fetch:*", "--deny", "network.fetch:http://93.184.216.34/*"]
  await using served = await serveA2A(tmp, { args, env: env(llm, "chat").variables })
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "go" }] }
  const { result } = await served.rpc("SendMessage", { message })
  for (const url of ["http://127.0.0.1:9/", "http://93.184.216.34/"]) {
    const refused = await served.rpc("CreateTaskPushNotificationConfig", { taskId: result.task.id, url })
    assert.equal(refused.error?.code, -32602, url)
  }
})
