// `vitamin serve --sandbox`: prompts over HTTP run inside, and a person answers their questions from outside.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { type Client, createClient, createHttpTransport, type PermissionRequest } from "#client/client.ts"
import { serving } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"
import { until } from "../../fixture/until.ts"
import { resultsIn } from "./harness.ts"

async function served(tmp: Tmp, variables: Record<string, string>) {
  const { child, url, tokenFile } = await serving(tmp, ["--sandbox"], variables)
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
