// What one run of a specialist records, a later run in another process finds: documents, knowledge, memory.
import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, text } from "../../fixture/fake-llm.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

type Llm = Awaited<ReturnType<typeof fakeLlm>>

async function run(tmp: Tmp, llm: Llm, args: string[]): Promise<string[]> {
  const { code, err } = await vitamin(tmp, ["run", ...args], env(llm, "chat").variables)
  assert.equal(code, 0, err)
  return llm.requests.at(-1)!.messages.flatMap(({ results }) => results.map((result) => result.text))
}

test("a librarian finds in a second process what the first one indexed and recorded", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("docs/bees.md", "# Bees\n\nA colony swarms when the hive gets crowded in May.\n")
  await using llm = await fakeLlm([
    calls([
      call("rag_add", { folder: "docs" }),
      call("save_knowledge", { fact: "The hives belong to Ada.", source: "a conversation" }),
    ]),
    text("Done."),
    calls([
      call("rag_search", { query: "when do bees swarm?" }),
      call("rag_search", { query: "whose hives" }),
    ]),
    text("In May."),
  ])
  const librarian = ["--agent", "librarian"]
  const first = await run(tmp, llm, [...librarian, "--allow", "knowledge.write", "index the docs"])
  assert.match(
    first.join("\n"),
    /docs is added: 1 documents, 1 passages\.\n.*Recorded as the-hives-belong-to-ada/,
  )
  const [bees, hives] = await run(tmp, llm, [...librarian, "when do bees swarm?"])
  assert.match(bees!, /^docs\/bees\.md:1-3 \(bees > Bees\)\n# Bees\n\nA colony swarms/)
  assert.match(
    hives!,
    /knowledge the-hives-belong-to-ada \(.*source: a conversation\)\nThe hives belong to Ada\./,
  )
})

test("a librarian adds a folder only with permission, and never in plan mode", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("docs/bees.md", "Bees swarm in May.\n")
  const add = call("rag_add", { folder: "docs" })
  await using llm = await fakeLlm([
    add,
    text("I may not."),
    add,
    text("Neither."),
    call("rag_list", {}),
    text("None."),
  ])
  const librarian = ["--agent", "librarian"]
  const { variables } = env(llm, "chat")
  const asked = await vitamin(tmp, ["run", ...librarian, "add docs"], variables)
  assert.equal(asked.code, 3)
  assert.match(asked.err, /knowledge\.write/)
  const planned = await vitamin(tmp, ["run", ...librarian, "--mode", "plan", "--yes", "add docs"], variables)
  assert.equal(planned.code, 3)
  assert.match(planned.err, /denied in plan mode.*knowledge\.write/)
  assert.deepEqual(await run(tmp, llm, [...librarian, "list"]), [
    "No folder is added and no knowledge is recorded.",
  ])
})

test("a chronicler finds in a second process what the first one remembered, and needs permission to remember", async () => {
  await using tmp = await tmpdir({ git: true })
  const save = call("memory_save", { text: "Releases leave on Tuesdays." })
  await using llm = await fakeLlm([
    save,
    text("I may not."),
    save,
    text("Remembered."),
    call("memory_search", { query: "which day do we release?" }),
    text("On Tuesdays."),
  ])
  const chronicler = ["--agent", "chronicler"]
  const { variables } = env(llm, "chat")
  const refused = await vitamin(tmp, ["run", ...chronicler, "remember it"], variables)
  assert.equal(refused.code, 3)
  assert.match(refused.err, /memory\.write/)
  await run(tmp, llm, [...chronicler, "--allow", "memory.write", "remember it"])
  const [found] = await run(tmp, llm, [...chronicler, "when do we release?"])
  assert.match(found!, /^releases-leave-on-tuesdays \(fact, .*\)\nReleases leave on Tuesdays\./)
  assert.equal(globSync("vitamin/memory/*/*.md", { cwd: join(tmp.env.XDG_DATA_HOME!) }).length, 1)
})

test("a session is asked once for permission to remember", async () => {
  await using tmp = await tmpdir({ git: true })
  const save = (name: string) => call("memory_save", { text: `About ${name}.`, name })
  await using llm = await fakeLlm([save("one"), save("two"), text("Both."), save("three"), text("Three.")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const headers = {
    authorization: `Bearer ${readFileSync(server.tokenFile, "utf8").trim()}`,
    "content-type": "application/json",
  }
  const post = async (path: string, body: object) =>
    (await fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) })).json()
  const abort = new AbortController()
  const events = await fetch(`${server.url}/event`, { headers, signal: abort.signal })
  const { id } = (await post("/session", {})) as { id: string }
  const asked: string[] = []
  const answering = (async () => {
    let seen = ""
    for await (const bytes of events.body!) {
      seen += Buffer.from(bytes).toString()
      for (const [whole, request] of seen.matchAll(/"permission\.requested".*?"id":"(perm_\w+)".*\n/g)) {
        seen = seen.replace(whole, "")
        asked.push(request!)
        await post(`/permission/${request}/respond`, { reply: "once" })
      }
    }
  })().catch(() => undefined)
  for (const words of ["remember one and two", "remember three"])
    await post(`/session/${id}/message`, { text: words, agent: "chronicler" })
  abort.abort()
  await answering
  assert.equal(globSync("vitamin/memory/*/*.md", { cwd: tmp.env.XDG_DATA_HOME! }).length, 3)
  assert.equal(asked.length, 1)
})
