// What one run of a specialist records, a later run in another process finds: documents, knowledge, memory.
import assert from "node:assert/strict"
import { globSync, readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../fixture/cli.ts"
import { call, calls, env, fakeLlm, type Reply, text } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

/** A project with a scripted model. `run` needs exit code 0 and returns the results of the last request; `refused` needs
 * exit code 3 and returns what was printed. */
async function project(script: Reply[]) {
  const tmp = await tmpdir({ git: true })
  const llm = await fakeLlm(script)
  const { variables } = env(llm, "chat")
  const ends = async (expected: number, args: string[]) => {
    const { code, err } = await vitamin(tmp, ["run", ...args], variables)
    assert.equal(code, expected, err)
    return err
  }
  return {
    tmp,
    variables,
    async run(...args: string[]): Promise<string[]> {
      await ends(0, args)
      return llm.requests.at(-1)!.messages.flatMap(({ results }) => results.map((result) => result.text))
    },
    refused: (...args: string[]) => ends(3, args),
    async [Symbol.asyncDispose]() {
      await llm[Symbol.asyncDispose]()
      await tmp[Symbol.asyncDispose]()
    },
  }
}

const librarian = ["--agent", "librarian"]
const chronicler = ["--agent", "chronicler"]

test("a librarian finds in a second process what the first one indexed and recorded", async () => {
  await using given = await project([
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
  given.tmp.write("docs/bees.md", "# Bees\n\nA colony swarms when the hive gets crowded in May.\n")
  const first = await given.run(...librarian, "--allow", "knowledge.write", "index the docs")
  assert.match(
    first.join("\n"),
    /docs is added: 1 documents, 1 passages\.\n.*Recorded as the-hives-belong-to-ada/,
  )
  const [bees, hives] = await given.run(...librarian, "when do bees swarm?")
  assert.match(bees!, /^docs\/bees\.md:1-3 \(bees > Bees\)\n# Bees\n\nA colony swarms/)
  assert.match(
    hives!,
    /knowledge the-hives-belong-to-ada \(.*source: a conversation\)\nThe hives belong to Ada\./,
  )
})

test("a librarian adds a folder only with permission, and never in plan mode", async () => {
  const add = call("rag_add", { folder: "docs" })
  await using given = await project([
    add,
    text("I may not."),
    add,
    text("Neither."),
    call("rag_list", {}),
    text("None."),
  ])
  given.tmp.write("docs/bees.md", "Bees swarm in May.\n")
  assert.match(await given.refused(...librarian, "add docs"), /knowledge\.write/)
  assert.match(
    await given.refused(...librarian, "--mode", "plan", "--yes", "add docs"),
    /denied in plan mode.*knowledge\.write/,
  )
  assert.deepEqual(await given.run(...librarian, "list"), [
    "No folder is added and no knowledge is recorded.",
  ])
})

test("a chronicler finds in a second process what the first one remembered, and needs permission to remember", async () => {
  const save = call("memory_save", { text: "Releases leave on Tuesdays." })
  await using given = await project([
    save,
    text("I may not."),
    save,
    text("Remembered."),
    call("memory_search", { query: "which day do we release?" }),
    text("On Tuesdays."),
  ])
  assert.match(await given.refused(...chronicler, "remember it"), /memory\.write/)
  await given.run(...chronicler, "--allow", "memory.write", "remember it")
  const [found] = await given.run(...chronicler, "when do we release?")
  assert.match(found!, /^releases-leave-on-tuesdays \(fact, .*\)\nReleases leave on Tuesdays\./)
  assert.equal(globSync("vitamin/memory/*/*.md", { cwd: given.tmp.env.XDG_DATA_HOME! }).length, 1)
})

test("a session is asked once for permission to remember", async () => {
  const save = (name: string) => call("memory_save", { text: `About ${name}.`, name })
  const script = [save("one"), save("two"), text("Both."), save("three"), text("Three.")]
  await using given = await project(script)
  const server = await serving(given.tmp, [], given.variables)
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
  assert.equal(globSync("vitamin/memory/*/*.md", { cwd: given.tmp.env.XDG_DATA_HOME! }).length, 3)
  assert.equal(asked.length, 1)
})
