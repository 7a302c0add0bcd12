// Sessions of people: nobody sees, changes or guesses those of others, by any route; sharing opens them.
import assert from "node:assert/strict"
import { test } from "node:test"
import { serving } from "../../../fixture/cli.ts"
import { call, env, text } from "../../../fixture/fake-llm.ts"
import { until } from "../../../fixture/until.ts"
import { type Member, onTeams, startTeam, type Team } from "./harness.ts"

type Row = { id: string; method: string; path: string; role: string }

/** Bodies with which the routes would do something. */
const bodies: Record<string, object> = {
  leaveSession: { reason: "other" },
  updateSession: { title: "Taken over" },
  promptSession: { text: "hello" },
  forkSession: {},
  revertSession: { messageId: "msg_nope" },
  redoSession: {},
  pushSession: {},
  setMode: { mode: "plan" },
  switchBranch: { name: "other" },
  runShell: { command: "touch broken-in" },
  allowEdits: { isAllowed: true },
  shareSession: { name: "bob", role: "member" },
}
/** They need no body. */
const bare = new Set(["compactSession", "abortSession"])

/** The routes of one session, from the document of the server. */
async function routesOf(team: Team): Promise<Row[]> {
  const { paths } = await team.owner.json("GET", "/openapi.json")
  return Object.entries(paths as Record<string, Record<string, { operationId: string; security: never }>>)
    .filter(([path]) => path.startsWith("/session/{id}"))
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, { operationId: id, security }]) => ({
        id,
        method: method.toUpperCase(),
        path,
        role: (security as { bearer: string[] }[])[0]!.bearer[0]!,
      })),
    )
}

async function statuses(rows: Row[], person: Member, sessionId: string): Promise<Record<string, number>> {
  const all: Record<string, number> = {}
  // Removing comes last.
  for (const { id, method, path } of rows.toSorted((a) => (a.id === "removeSession" ? 1 : -1))) {
    const at = path.replace("{id}", sessionId).replace(/\{\w+\}/g, "1")
    const needsBody = method !== "GET" && method !== "DELETE" && !bare.has(id)
    if (needsBody) assert.ok(bodies[id], `${id} needs a body here`)
    all[id] = await person.status(method, at, needsBody ? bodies[id] : undefined)
  }
  return all
}

onTeams(
  "a session of another person is missing on every route, and nothing happens to it",
  async (startTeam) => {
    await using team = await startTeam([text("For Ada.")])
    const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "member")]
    const { id } = await ada.client.createSession({ title: "Secret plan" })
    await ada.client.promptSession({ id, text: "hello" })
    const before = await ada.client.exportSession({ id })
    assert.equal(before.session.person, "ada")
    const rows = await routesOf(team)
    assert.ok(rows.length > 25, String(rows.length))
    for (const [route, status] of Object.entries(await statuses(rows, bob, id)))
      assert.equal(status, 404, `${route} of another person`)
    assert.deepEqual(await ada.client.exportSession({ id }), before)
    assert.deepEqual(team.tmp.git("status", "--porcelain"), "")

    assert.deepEqual(await bob.client.listSessions({ tasks: true, everywhere: true }), [])
    assert.equal((await ada.client.listSessions()).length, 1)
    assert.equal((await bob.client.getStats({ since: "0", all: true })).sessions, 0)
    assert.equal((await ada.client.getStats({ since: "0" })).sessions, 1)
    assert.equal(await bob.status("GET", `/command?session=${id}`), 404)
    assert.doesNotMatch(JSON.stringify(await bob.json("GET", `/session/${id}`)), /Secret plan/)
    // An admin and the owner see all; a session of the owner is hidden from members.
    const root = await team.add("root", "admin")
    assert.equal((await root.client.getSession({ id })).title, "Secret plan")
    assert.equal((await team.owner.client.listSessions()).length, 1)
    const own = await team.owner.client.createSession()
    assert.equal(own.person, undefined)
    assert.equal(await bob.status("GET", `/session/${own.id}`), 404)
  },
)

onTeams(
  "a share lets a reader look and a member prompt; only the owner of a session shares and removes it",
  async (startTeam) => {
    await using team = await startTeam([text("One."), text("Two."), text("Three."), text("Four.")])
    const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "member")]
    const { id } = await ada.client.createSession()
    await ada.client.promptSession({ id, text: "hello" })
    const rows = await routesOf(team)

    assert.equal((await ada.client.shareSession({ id, name: "bob", role: "reader" })).shared?.bob, "reader")
    for (const [route, status] of Object.entries(await statuses(rows, bob, id))) {
      const isReading = rows.find((row) => row.id === route)!.role === "reader"
      assert.equal(status === 403, !isReading, `${route} for a reader of the session: ${status}`)
    }
    assert.equal((await bob.client.listSessions()).length, 1)

    await ada.client.shareSession({ id, name: "bob", role: "member" })
    assert.equal((await bob.client.promptSession({ id, text: "and me" })).type, "text")
    const fork = await bob.client.forkSession({ id })
    assert.deepEqual([fork.person, fork.shared], ["bob", undefined])
    assert.equal(await ada.status("GET", `/session/${fork.id}`), 404)
    for (const [method, path, body] of [
      ["DELETE", `/session/${id}`, undefined],
      ["POST", `/session/${id}/share`, { name: "bob", role: "member" }],
    ] as const)
      assert.equal(await bob.status(method, path, body), 403, path)
    assert.equal(await ada.status("POST", `/session/${id}/share`, { name: "nobody", role: "member" }), 404)

    await ada.client.shareSession({ id, name: "bob", role: null })
    for (const [route, status] of Object.entries(await statuses(rows, bob, id)))
      assert.equal(status, 404, `${route} after the share`)
    // A reader by role cannot prompt, whatever the share says.
    const rita = await team.add("rita", "reader")
    await ada.client.shareSession({ id, name: "rita", role: "member" })
    assert.equal(await rita.status("GET", `/session/${id}/message`), 200)
    assert.equal(await rita.status("POST", `/session/${id}/message`, { text: "me too" }), 403)
    await ada.client.removeSession({ id })
  },
)

onTeams(
  "questions are shown to those who see the session, and answered by its members, for the session only",
  async (startTeam) => {
    await using team = await startTeam([
      call("write", { path: "a.txt", content: "a" }),
      call("write", { path: "b.txt", content: "b" }),
      text("Done."),
    ])
    const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "member")]
    const { id } = await ada.client.createSession()
    await ada.client.promptSession({ id, text: "go", prefer: "respond-async" })
    const pending = async () => (await ada.client.listPermissions())[0]
    await until(async () => (await pending()) !== undefined, "Ada is asked")
    const first = (await pending())!
    assert.deepEqual(await bob.client.listPermissions(), [])
    assert.deepEqual(await bob.client.listQuestions(), [])
    assert.equal(await bob.status("POST", `/permission/${first.id}/respond`, { reply: "once" }), 404)
    await ada.client.shareSession({ id, name: "bob", role: "reader" })
    assert.equal((await bob.client.listPermissions()).length, 1)
    assert.equal((await bob.client.listQuestions()).length, 1)
    assert.equal(await bob.status("POST", `/permission/${first.id}/respond`, { reply: "once" }), 403)
    await ada.client.shareSession({ id, name: "bob", role: "member" })
    const { notice } = await bob.client.replyPermission({ id: first.id, reply: "always" })
    assert.match(notice!, /only an admin may allow it in the whole project/)
    await until(async () => ((await pending())?.id ?? first.id) !== first.id, "the second question")
    await ada.client.replyPermission({ id: (await pending())!.id, reply: "reject" })

    const [grant] = await ada.client.listGrants()
    assert.deepEqual([grant!.scope, grant!.sessionId], ["session", id])
    await ada.client.shareSession({ id, name: "bob", role: null })
    assert.deepEqual(await bob.client.listGrants(), [])
    assert.equal(await bob.status("DELETE", `/grant/${grant!.id}`), 404)
    await ada.client.removeGrant({ id: grant!.id })
  },
)

onTeams(
  "a reader looks into the folder of the server and of shared sessions, not into others",
  async (startTeam) => {
    await using team = await startTeam()
    const [ada, rita] = [await team.add("ada", "member"), await team.add("rita", "reader")]
    const other = team.tmp.env.XDG_DATA_HOME!
    const at = { "x-vitamin-directory": encodeURIComponent(other) }
    assert.equal(await rita.status("GET", "/file?search=a"), 200)
    assert.equal(await rita.status("GET", "/file?search=a", undefined, at), 403)
    const { id } = (await (await ada.fetch("POST", "/session", {}, at)).json()) as { id: string }
    await ada.client.shareSession({ id, name: "rita", role: "reader" })
    assert.equal(await rita.status("GET", "/file?search=a", undefined, at), 200)
  },
)

onTeams("the store that an agent searches has only sessions that the person may see", async (startTeam) => {
  const search = call("recall", { text: "the colour", everywhere: true })
  await using team = await startTeam([
    text("Blue."),
    search,
    text("Mine."),
    search,
    text("None."),
    search,
    text("All."),
  ])
  team.tmp.write(
    ".vitamin/agents/clerk.md",
    "---\nmode: primary\ntools: [recall]\nmetadata:\n  grounding: [data_store]\n---\nYou know the files.\n",
  )
  const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "member")]
  const { id } = await ada.client.createSession({ title: "Colours" })
  await ada.client.promptSession({ id, text: "What is the colour of the house?" })
  /** What the model was told, and what its search found. */
  const asked = async (person: Member) => {
    const session = await person.client.createSession({ agent: "clerk" })
    await person.client.promptSession({ id: session.id, text: "search", asks: "once" })
    const results = (await person.client.listMessages({ id: session.id })).filter(
      ({ type }) => type === "tool_result",
    )
    return `${team.llm.requests.at(-1)!.system}\n${JSON.stringify(results)}`
  }
  assert.match(await asked(ada), /Colours[\s\S]*the colour of the house/)
  const hidden = await asked(bob)
  assert.match(hidden, /Nothing stored fits/)
  assert.doesNotMatch(hidden, /Colours|of the house/)
  const owners = await asked(team.owner)
  assert.match(owners, /the colour of the house/)
  assert.doesNotMatch(owners, /"hash"|vitamin_/)
})

onTeams("nobody stops the running prompt of another person", async (startTeam) => {
  await using team = await startTeam([{ ...text("Late."), fault: { kind: "stall", bytes: 0 } }])
  const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "member")]
  const { id } = await ada.client.createSession()
  await ada.client.promptSession({ id, text: "go", prefer: "respond-async" })
  await until(() => team.llm.requests.length === 1, "the model is asked")
  assert.equal(await bob.status("DELETE", `/session/${id}`), 404)
  assert.equal(await bob.status("POST", `/session/${id}/abort`), 404)
  // An abort would take effect before the next answer.
  await bob.client.listSessions()
  assert.equal((await ada.client.getSession({ id })).status, "busy")
  await ada.client.abortSession({ id })
})

// On a database another server runs them: test/edge/cluster/takeover.test.ts.
test("prompts that a dead server left are reported, whoever asks the next server first", async () => {
  await using team = await startTeam([{ ...text("Late."), fault: { kind: "stall", bytes: 0 } }])
  const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "member")]
  // A folder whose instance is made by the first request.
  const at = { "x-vitamin-directory": encodeURIComponent(team.tmp.env.XDG_DATA_HOME!) }
  const post = (path: string, body: object) =>
    ada.fetch("POST", path, body, { ...at, prefer: "respond-async" })
  const { id } = (await (await post("/session", {})).json()) as { id: string }
  await post(`/session/${id}/message`, { text: "one" })
  await until(() => team.llm.requests.length === 1, "the model is asked")
  await post(`/session/${id}/message`, { text: "two" })
  team.child.process.kill("SIGKILL")
  await team.child.exit
  const next = await serving(team.tmp, [], env(team.llm, "chat").variables)
  await using _ = next.child
  const get = async (path: string, { auth }: Member) =>
    (await fetch(next.url + path, { headers: { ...auth, ...at } })).json()
  assert.deepEqual(await get("/session", bob), [])
  const { skipped } = (await get(`/session/${id}`, ada)) as { skipped?: { text: string }[] }
  assert.deepEqual(
    skipped?.map((one) => one.text),
    ["two"],
  )
})

onTeams(
  "a limited list has the sessions that were used last and that the person may see",
  async (startTeam) => {
    await using team = await startTeam([text("One.")])
    const [ada, bob] = [await team.add("ada", "member"), await team.add("bob", "member")]
    const make = async (who: typeof ada, title: string) => (await who.client.createSession({ title })).id
    const first = await make(ada, "first")
    for (let n = 0; n < 6; n++) await make(bob, `of Bob ${n}`)
    await make(ada, "second")
    await make(ada, "third")
    for (let n = 6; n < 12; n++) await make(bob, `of Bob ${n}`)
    await ada.client.promptSession({ id: first, text: "again" })
    const titles = async (limit?: string) =>
      (await ada.client.listSessions(limit ? { limit } : {})).map(({ title }) => title)
    assert.deepEqual(await titles("2"), ["first", "third"])
    assert.deepEqual(await titles("3"), ["first", "third", "second"])
    assert.deepEqual(await titles("50"), await titles())
    assert.equal(await ada.status("GET", "/session?limit=0"), 400)
  },
)
