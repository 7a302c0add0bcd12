// Branches and modes at the command line and over HTTP.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { call, env, type FakeLlm, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { openTerminal } from "../../../fixture/terminal.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

type Body = { id: string; branch: string; error: { name: string } }

const said = (llm: FakeLlm) => llm.requests.at(-1)!.messages.map((message) => message.text)

async function json<T>(tmp: Tmp, args: string[]): Promise<T> {
  const { code, out, err } = await vitamin(tmp, [...args, "--format", "json"])
  assert.equal(code, 0, err)
  return JSON.parse(out) as T
}

test("vitamin session branch creates, lists and switches branches, and prompts continue the active one", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("a1"), text("a2"), text("b1"), text("a3")])
  const { variables } = env(llm, "chat")
  const run = async (...args: string[]) => {
    const { code, err } = await vitamin(tmp, ["run", ...args], variables)
    assert.equal(code, 0, err)
  }
  await run("q1")
  await run("--continue", "q2")
  const [{ id }] = await json<[{ id: string }]>(tmp, ["session", "list"])
  const { messages } = await json<{ messages: { id: string }[] }>(tmp, ["session", "show", id])
  const made = await vitamin(tmp, ["session", "branch", id, "try", "--from", messages[1]!.id])
  assert.deepEqual([made.code, made.out], [0, `${id}: try`])
  await run("--session", id, "other")
  assert.deepEqual(said(llm), ["q1", "a1", "other"])
  const listed = await vitamin(tmp, ["session", "branch", id])
  assert.match(listed.out, /^ {2}main {2}4 messages, the last msg_\w+$/m)
  assert.match(listed.out, new RegExp(`^\\* try {3}5 messages, .* made at ${messages[1]!.id} of main$`, "m"))
  const shown = await vitamin(tmp, ["session", "show", id])
  assert.match(shown.out, /act mode, branch try/)
  assert.match(shown.out, new RegExp(`· branch: main → try, from ${messages[1]!.id} on`))
  assert.equal((await vitamin(tmp, ["session", "branch", id, "main"])).out, `${id}: main`)
  await run("--session", id, "q3")
  assert.deepEqual(said(llm), ["q1", "a1", "q2", "a2", "q3"])
  const branches = await json<{ name: string; active: boolean }[]>(tmp, ["session", "branch", id])
  assert.deepEqual(
    branches.map(({ name, active }) => [name, active]),
    [
      ["main", true],
      ["try", false],
    ],
  )
  const markdown = await vitamin(tmp, ["session", "export", id, "--format", "markdown"])
  assert.match(markdown.out, /^\*branch: try → main, from msg_\w+ on\*$/m)
})

test("vitamin session branch refuses invalid names and messages in one line", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("a1")])
  await vitamin(tmp, ["run", "q1"], env(llm, "chat").variables)
  const [{ id }] = await json<[{ id: string }]>(tmp, ["session", "list"])
  const cases: [args: string[], code: number, words: RegExp][] = [
    [[id, "a b"], 1, /"a b" cannot be the name of a branch/],
    [[id, "try", "--from", "msg_none"], 1, /Message msg_none is not in session/],
    [[id, "main", "--from", "msg_none"], 1, /has a branch "main" already/],
    [["sess_none", "try"], 1, /sess_none does not exist/],
    [[id, "--from", "msg_none"], 2, /needs a name/],
  ]
  for (const [args, code, words] of cases) {
    const refused = await vitamin(tmp, ["session", "branch", ...args])
    assert.equal(refused.code, code, refused.err)
    assert.match(refused.err, words)
    assert.equal(refused.err.trim().split("\n").length, 1)
  }
})

test("plan mode over the command line tells the model, and session show says when it changed", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("a1"), text("a2")])
  const { variables } = env(llm, "messages")
  await vitamin(tmp, ["run", "q1"], variables)
  await vitamin(tmp, ["run", "--continue", "--mode", "plan", "q2"], variables)
  const [act, plan] = llm.requests
  assert.doesNotMatch(act!.system, /Plan mode/)
  assert.match(plan!.system, /Plan mode: /)
  const [{ id }] = await json<[{ id: string }]>(tmp, ["session", "list"])
  const { out } = await vitamin(tmp, ["session", "show", id])
  assert.match(out, /· mode: act → plan/)
  assert.match(out, /plan mode, branch main/)
})

test("/session/:id/branch lists, creates and switches branches, and errors have their status", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("a1"), text("b1"), text("a2")])
  const server = await serving(tmp, [], env(llm, "chat").variables)
  await using _ = server.child
  const authorization = `Bearer ${readFileSync(server.tokenFile, "utf8").trim()}`
  const api = async (method: string, path: string, body?: object) => {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
  const { body: session } = await api("POST", "/session", {})
  const path = `/session/${session.id}`
  const { body: first } = await api("POST", `${path}/message`, { text: "q1" })
  const made = await api("POST", `${path}/branch`, { name: "try", from: first.id })
  assert.deepEqual([made.status, made.body.branch], [200, "try"])
  await api("POST", `${path}/message`, { text: "other" })
  const back = await api("POST", `${path}/branch`, { name: "main" })
  assert.deepEqual([back.status, back.body.branch], [200, "main"])
  await api("POST", `${path}/message`, { text: "q2" })
  assert.deepEqual(said(llm), ["q1", "a1", "q2"])
  const { body: branches } = await api("GET", `${path}/branch`)
  assert.deepEqual(
    (branches as unknown as { name: string; count: number }[]).map(({ name, count }) => [name, count]),
    [
      ["main", 5],
      ["try", 5],
    ],
  )
  const { body: ofTry } = await api("GET", `${path}/message?branch=try`)
  assert.equal((ofTry as unknown as unknown[]).length, 5)
  const wrong: [status: number, name: string, method: string, path: string, body?: object][] = [
    [400, "Session.InvalidBranch", "POST", `${path}/branch`, { name: "a b" }],
    [404, "Session.MessageNotFound", "POST", `${path}/branch`, { name: "x", from: "msg_none" }],
    [409, "Session.BranchExists", "POST", `${path}/branch`, { name: "try", from: first.id }],
    [404, "Session.BranchNotFound", "GET", `${path}/message?branch=none`],
    [404, "Session.NotFound", "GET", "/session/sess_none/branch"],
    [400, "Server.InvalidRequest", "POST", `${path}/branch`, {}],
  ]
  for (const [status, name, ...request] of wrong) {
    const answer = await api(...request)
    assert.deepEqual([answer.status, answer.body.error.name], [status, name])
  }
})

test("an agent file that names symbols and grounding gets both", async () => {
  await using tmp = await tmpdir({ git: true })
  tmp.write("src/app.ts", "export function startApp() {}\n")
  const head = [
    "---",
    "tools: [symbols, read]",
    "metadata:",
    "  grounding: [code_repo]",
    "---",
    "Find things.",
  ]
  tmp.write(".vitamin/agents/finder.md", head.join("\n"))
  await using llm = await fakeLlm([call("symbols", { name: "startapp" }), text("src/app.ts:1")])
  const { code, out, err } = await vitamin(
    tmp,
    ["run", "--agent", "finder", "where?"],
    env(llm, "chat").variables,
  )
  assert.deepEqual([code, out.trim()], [0, "src/app.ts:1"], err)
  assert.match(llm.requests[0]!.system, /The repository has about 2 files/)
  assert.match(llm.requests[1]!.messages.at(-1)!.results[0]!.text, /1: function {2}export function startApp/)
  const tools = await vitamin(tmp, ["tool", "list"])
  assert.match(tools.out, /^symbols +code +Find where/m)
  assert.match(tools.out, /^recall +data +Search what/m)
})

test("in a terminal, session branch, mode, fork and import say what they did, and how to continue", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm([text("one")])
  await vitamin(tmp, ["run", "first"], env(llm, "chat").variables)
  const say = async (...words: string[]) => {
    await using terminal = openTerminal(tmp, ["session", ...words])
    assert.equal(await terminal.exit, 0, terminal.shown())
    return terminal.shown().replace(/\s+/g, " ").trim()
  }
  assert.match(await say("branch", "try"), /^The branch of sess_\w{10} is now try\.$/)
  assert.match(await say("mode", "plan"), /^The mode of sess_\w{10} is now plan\.$/)
  tmp.write("exported.json", (await vitamin(tmp, ["session", "export"])).out)
  const [, id] =
    /^The copy is (sess_\w{10})\. Continue it: vitamin run --session \1 "…"$/.exec(await say("fork")) ?? []
  assert.match((await vitamin(tmp, ["session", "show", id!])).out, /first/)
  assert.match(
    await say("import", "exported.json"),
    /^The imported session is (sess_\w{10})\. Continue it: vitamin run --session \1 "…"$/,
  )
})

for (const [file, says] of [
  ["gone.json", "The file gone.json does not exist."],
  ["README.md", "README.md is not JSON. To export a session: vitamin session export ID > FILE"],
  [".", ". cannot be read: EISDIR: illegal operation on a directory, read"],
] as const)
  test(`vitamin session import ${file} says what is wrong with the file`, async () => {
    await using tmp = await tmpdir({ git: true })
    const { code, err } = await vitamin(tmp, ["session", "import", file])
    assert.deepEqual([code, err], [2, `vitamin: ${says}\n`])
  })
