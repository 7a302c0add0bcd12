// `vitamin serve --sandbox` and `vitamin a2a serve --sandbox`: prompts over HTTP run inside, and a person answers their questions from outside.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { type Client, createClient, createHttpTransport, type PermissionRequest } from "#client/client.ts"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { serveA2A } from "../a2a/harness.ts"
import { guestOf, resultsIn } from "./harness.ts"

async function served(tmp: Tmp, variables: Record<string, string>, args = ["--sandbox"]) {
  const { child, url, tokenFile } = await serving(tmp, args, variables)
  const token = readFileSync(tokenFile, "utf8").trim()
  return { child, client: createClient(createHttpTransport({ url, token, directory: tmp.path })) }
}

async function asked(client: Client): Promise<PermissionRequest> {
  await until(async () => (await client.listPermissions()).length > 0, "a question")
  return (await client.listPermissions())[0]!
}

test("a prompt over HTTP runs inside; a rule of the person still asks, and the answer counts", async () => {
  await using tmp = await tmpdir({ git: true })
  const rule = { permission: "bash.execute", pattern: "touch *", action: "ask" }
  tmp.write("../config/vitamin/vitamin.jsonc", JSON.stringify({ permission: [rule] }))
  await using llm = await fakeLlm([
    call("bash", { command: "cat /proc/1/comm" }),
    call("bash", { command: "touch asked.txt" }),
    text("Done."),
    call("bash", { command: "touch again.txt" }),
    text("Done again."),
  ])
  const { child, client } = await served(tmp, env(llm, "chat").variables)
  await using _ = child
  const { id } = await client.createSession({})
  const answer = client.promptSession({ id, text: "go" })
  const request = await asked(client)
  assert.deepEqual(request.needs[0]!.target, "touch asked.txt")
  assert.equal((await client.getSession({ id })).status, "waiting")
  await client.replyPermission({ id: request.id, reply: "always" })
  await answer
  assert.match(resultsIn(llm)[0]!, /^bwrap/)
  assert.ok(existsSync(join(tmp.path, "asked.txt")))
  const grants = await client.listGrants()
  assert.deepEqual(
    grants.map(({ permission, pattern }) => [permission, pattern]),
    [["bash.execute", "touch asked.txt"]],
  )
  const rejected = client.promptSession({ id, text: "again" })
  const second = await asked(client)
  await client.replyPermission({ id: second.id, reply: "reject" })
  await rejected
  assert.ok(!existsSync(join(tmp.path, "again.txt")))
})

test("after a change of the settings, the next prompt of a session runs in a sandbox that has the new ones", async () => {
  await using tmp = await tmpdir({ git: true })
  const set = (allowWrite: string[]) =>
    tmp.write(
      "../config/vitamin/vitamin.jsonc",
      JSON.stringify({ adapters: { sandbox: { enabled: true, security: { allowWrite } } } }),
    )
  set(["."])
  await using llm = await fakeLlm([
    call("bash", { command: "echo x >one.txt; cat one.txt" }),
    text("Done."),
    call("bash", { command: "echo x >two.txt" }),
    text("Done."),
  ])
  const { child, client } = await served(tmp, env(llm, "chat").variables, [])
  await using _ = child
  const { id } = await client.createSession({})
  await client.promptSession({ id, text: "go" })
  assert.ok(existsSync(join(tmp.path, "one.txt")))
  const first = guestOf(child.process.pid!)
  set(["./output"])
  const stored = async () => JSON.stringify((await client.getConfig()) as object).includes("./output")
  await until(stored, "the server has read the settings")
  await client.promptSession({ id, text: "go on" })
  assert.match(resultsIn(llm).at(-1)!, /two\.txt: Read-only file system/)
  assert.ok(!existsSync(join(tmp.path, "two.txt")))
  await until(() => !existsSync(`/proc/${first}`), "the old one ends")
  assert.notEqual(guestOf(child.process.pid!), first)
})

test("vitamin a2a serve --sandbox: a task of another agent runs inside, and is refused if bubblewrap is missing", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([
    call("bash", { command: "cat /proc/1/comm; touch inside.txt; touch ../outside.txt" }),
    text("Done."),
  ])
  const { variables } = env(llm, "chat")
  {
    await using served = await serveA2A(tmp, { args: ["--sandbox"], env: variables })
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "go" }] }
    const { result } = await served.rpc("SendMessage", { message })
    assert.equal(result.task.status.state, "TASK_STATE_COMPLETED", JSON.stringify(result))
  }
  assert.match(resultsIn(llm)[0]!, /^bwrap/)
  assert.deepEqual(
    ["inside.txt", "../outside.txt"].map((name) => existsSync(join(tmp.path, name))),
    [true, false],
  )
  const args = ["a2a", "serve", "--port", "0", "--sandbox"]
  const { code, err } = await vitamin(tmp, args, { ...variables, PATH: join(tmp.path, "empty") })
  assert.equal(code, 1)
  assert.match(err, /The sandbox did not start: bubblewrap \(bwrap\) is not on the PATH/)
})
