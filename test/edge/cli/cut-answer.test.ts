// An answer that the limit of output tokens cut off must not look like a complete one, whoever reads it.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"
import { overStdio, textOf } from "../mcp/harness.ts"

const half = text("The first half", { finish: "length" })

for (const wire of ["chat", "responses", "messages", "gemini"] as const)
  test(`vitamin run reports an answer that was cut off, and session show marks it, over ${wire}`, async () => {
    await using tmp = await tmpdir({ git: true })
    await using llm = await fakeLlm([half])
    const { code, out, err } = await vitamin(tmp, ["run", "go"], env(llm, wire).variables)
    assert.deepEqual([code, out], [0, "The first half"])
    assert.match(err, /^vitamin: the answer was cut off at the model's limit of output tokens/m)
    const [{ id }] = JSON.parse((await vitamin(tmp, ["session", "list", "--format", "json"])).out)
    const shown = await vitamin(tmp, ["session", "show", id])
    assert.match(shown.out, /\[assistant\] \(cut off at the limit of output tokens\) The first half/)
  })

test("vitamin run says nothing of the kind about a complete answer", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("All of it")])
  const { err } = await vitamin(tmp, ["run", "go"], env(llm, "chat").variables)
  assert.doesNotMatch(err, /cut off/)
})

test("the HTTP answer and the events carry the finish reason of an answer that was cut off", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([half])
  const { child, url, tokenFile } = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = child
  const headers = {
    authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
  }
  const post = async (path: string, body: object) =>
    (await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json()
  const { id } = (await post("/session", {})) as { id: string }
  const answer = (await post(`/session/${id}/message`, { text: "go" })) as { data: { finish: string } }
  assert.equal(answer.data.finish, "length")
})

test("the tool run of vitamin mcp serve and a subtask mark an answer that was cut off", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([call("subtask", { task: "t" }), half, half])
  const args = ["--allow", "agent.delegate"]
  await using served = await overStdio(tmp, { args, env: env(llm, "chat").variables })
  const result = await served.client.callTool({ name: "run", arguments: { prompt: "go" } })
  assert.match(textOf(result), /^The first half\n\[cut off at the limit of output tokens\]$/)
  const [task] = llm.requests[2]!.messages.flatMap(({ results }) => results)
  assert.match(task!.text, /The first half\n\[cut off at the limit of output tokens\]/)
})
