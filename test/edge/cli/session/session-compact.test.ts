// A session is compacted at the command line and over HTTP; the older messages can still be shown.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { env, type FakeLlm, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

const filler = "many words ".repeat(150)
const isQuestion = ({ messages }: { messages: { text: string }[] }) =>
  /^question \d+$/.test(messages.at(-1)!.text)

/** A project whose model answers every question, and writes a summary on request. */
async function talk(fn: (tmp: Tmp, llm: FakeLlm, id: string) => Promise<void>): Promise<void> {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm((request, turn) =>
    isQuestion(request) ? text(`answer ${turn} ${filler}`) : text("THE SUMMARY"),
  )
  const { variables } = env(llm, "chat")
  for (let i = 0; i < 5; i++) {
    const more = i ? ["--continue"] : []
    const { code, err } = await vitamin(tmp, ["run", ...more, `question ${i}`], variables)
    assert.equal(code, 0, err)
  }
  const { out } = await vitamin(tmp, ["session", "list", "--format", "json"])
  await fn(tmp, llm, JSON.parse(out)[0].id)
}

test("after vitamin session compact, session show has the summary, and --all shows every message", async () => {
  await talk(async (tmp, llm, id) => {
    const { variables } = env(llm, "chat")
    const { code, out, err } = await vitamin(tmp, ["session", "compact", id], variables)
    assert.equal(code, 0, err)
    assert.match(out, /^compacted: about \d+ tokens became \d+/)
    const shown = (await vitamin(tmp, ["session", "show", id])).out
    assert.match(shown, /\(\d+ earlier messages, which --all shows, are summarised\)/)
    assert.match(shown, /THE SUMMARY/)
    assert.doesNotMatch(shown, /answer 0/)
    assert.match(shown, /answer 4/)
    const all = (await vitamin(tmp, ["session", "show", id, "--all"])).out
    assert.match(all, /answer 0/)
    assert.match(all, /· compacted: /)
    await vitamin(tmp, ["run", "--session", id, "question 9"], variables)
    const sent = JSON.stringify(llm.requests.at(-1)!.body)
    assert.doesNotMatch(sent, /answer 0|keptFrom|system_control/)
    assert.match(sent, /THE SUMMARY[\s\S]*answer 4[\s\S]*question 9/)
    const missing = await vitamin(tmp, ["session", "compact", "sess_none"], variables)
    assert.equal(missing.code, 1)
    assert.match(missing.err, /sess_none does not exist/)
  })
})

test("POST /session/:id/compact compacts a session, and a branch from before has the whole history", async () => {
  await talk(async (tmp, llm, id) => {
    const server = await serving(tmp, [], env(llm, "chat").variables)
    await using _ = server.child
    const authorization = `Bearer ${readFileSync(server.tokenFile, "utf8").trim()}`
    const api = async (method: string, path: string, body?: object) => {
      const init = { method, headers: { authorization, "content-type": "application/json" } }
      const response = await fetch(`${server.url}/session/${path}`, {
        ...init,
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return {
        status: response.status,
        body: (await response.json()) as { id: string }[] & { status: string },
      }
    }
    const { body: before } = await api("GET", `${id}/message`)
    const compacted = await api("POST", `${id}/compact`)
    assert.deepEqual([compacted.status, compacted.body.status], [200, "idle"])
    await api("POST", `${id}/message`, { text: "question 7" })
    assert.doesNotMatch(JSON.stringify(llm.requests.at(-1)!.body), /answer 0/)
    await api("POST", `${id}/branch`, { name: "whole", from: before.at(-1)!.id })
    await api("POST", `${id}/message`, { text: "question 8" })
    const sent = JSON.stringify(llm.requests.at(-1)!.body)
    assert.match(sent, /answer 0[\s\S]*answer 4[\s\S]*question 8/)
    assert.doesNotMatch(sent, /question 7/)
    assert.equal((await api("POST", "sess_none/compact")).status, 404)
  })
})
