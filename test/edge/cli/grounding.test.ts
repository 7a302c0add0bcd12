// An agent file with the store as a source (`metadata.grounding: [data_store]`), through the built command and over
// HTTP: the agent gets the stored sessions, or the person is told why not.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

function writeClerk(tmp: Tmp): void {
  tmp.write(
    ".vitamin/agents/clerk.md",
    "---\nmode: primary\ntools: [recall]\nmetadata:\n  grounding: [data_store]\n---\nYou know the files.\n",
  )
}

test("an agent with grounding data_store gets earlier sessions, or the person is told which rule would allow it", async () => {
  await using tmp = await tmpdir({ git: true })
  writeClerk(tmp)
  const question = call("recall", { text: "the colour", where: ["data.role=user"] })
  await using llm = await fakeLlm([
    text("Nothing yet."),
    text("Blue."),
    text("I know nothing."),
    text("I know one."),
    question,
    text("Blue, it was."),
  ])
  const { variables } = env(llm, "chat")
  const run = async (args: string[]) => {
    const { code, err } = await vitamin(tmp, ["run", ...args], variables)
    assert.equal(code, 0, err)
    return { err, system: llm.requests.at(-1)!.system }
  }
  const clerk = ["--agent", "clerk"]
  const empty = await run([...clerk, "--yes", "what do you know?"])
  assert.match(empty.system, /No earlier session of this project is stored\./)
  await run(["What is the colour of the house?"])
  const refused = await run([...clerk, "what do you know?"])
  assert.doesNotMatch(refused.system, /The last sessions|No earlier session/)
  const told =
    /^vitamin: the agent "clerk" is not told of data_store: file\.read of .* needs permission\. --allow "(file\.read:\S+)" or --yes would allow it\.$/m
  const [, rule] = told.exec(refused.err) ?? []
  assert.ok(rule, refused.err)
  const allowed = await run([...clerk, "--allow", rule, "what do you know?"])
  assert.match(
    allowed.system,
    /The last sessions in this project:\n[\s\S]*- \S+ What is the colour of the house\?/,
  )
  assert.doesNotMatch(allowed.err, /is not told/)
  await run([...clerk, "--yes", "what was the colour?"])
  const { results } = llm.requests.at(-1)!.messages.at(-1)!
  assert.match(results[0]!.text, /^message\/sess_\w+\/msg_\w+ \(text\): What is the colour of the house\?/)
})

test("over HTTP, session.notice reports that the grounding of an agent may not be read", async () => {
  await using tmp = await tmpdir({ git: true })
  writeClerk(tmp)
  await using llm = await fakeLlm([text("I know nothing.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const headers = {
    authorization: `Bearer ${readFileSync(server.tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
  }
  const abort = new AbortController()
  const events = await fetch(`${server.url}/event`, { headers, signal: abort.signal })
  const post = (path: string, body: object) =>
    fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) })
  const { id } = (await (await post("/session", {})).json()) as { id: string }
  const answered = await post(`/session/${id}/message`, { text: "what do you know?", agent: "clerk" })
  assert.equal(answered.status, 200, await answered.text())
  let seen = ""
  for await (const bytes of events.body!) {
    seen += Buffer.from(bytes).toString()
    if (seen.includes("is not told of data_store")) break
  }
  assert.match(seen, /"session\.notice".*is not told of data_store: file\.read of .* needs permission/)
  abort.abort()
})
