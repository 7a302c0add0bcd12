// `vitamin stats` and GET /stats, over the records of real runs.
import assert from "node:assert/strict"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { byAgent } from "../../../engine/orchestrator/harness.ts"
import { serving, vitamin } from "../../../fixture/cli.ts"
import { call, env, fakeLlm, text } from "../../../fixture/fake-llm.ts"
import { repeat } from "../../../fixture/soak.ts"
import { type Tmp, tmpdir } from "../../../fixture/tmpdir.ts"

type Stats = Awaited<ReturnType<typeof Session.stats>>

const usage = { input: 100, output: 10 }
const day = 24 * 60 * 60 * 1_000

async function statsOf(tmp: Tmp, ...args: string[]): Promise<Stats> {
  const { code, out, err } = await vitamin(tmp, ["stats", "--format", "json", ...args])
  assert.equal(code, 0, err)
  return JSON.parse(out)
}

/** Stores a session with one prompt, one call and one answer, `age` days ago. */
async function lay(
  tmp: Tmp,
  { age = 0, agent = "build", tool = "read" }: { age?: number; agent?: string; tool?: string } = {},
): Promise<void> {
  const fields = { branch: "main", time: Date.now() - age * day, agent, model: "openai/m" }
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      const session = await Session.create()
      const place = { ...fields, sessionId: session.id, parentId: null }
      const words = (said: string) => [{ type: "text" as const, text: said }]
      const { agent: _, model: __, ...own } = place
      const made = [
        Message.make({ ...own, type: "text", data: { role: "user", parts: words("go") } }),
        Message.make({
          ...place,
          usage,
          type: "tool_request",
          data: { calls: [{ id: "c1", name: "read", arguments: {}, approval: "approved" }] },
        }),
        Message.make({
          ...own,
          type: "tool_result",
          data: { requestId: "c1", toolName: tool, status: "error", output: "", duration: 7, timestamp: 1 },
        }),
        Message.make({
          ...place,
          usage: { ...usage, cost: 0.5 },
          type: "text",
          data: { role: "assistant", parts: words("ok"), finish: "stop" },
        }),
      ]
      for (const message of made) await MessageStore.write({ ...message, time: fields.time } as Message.Info)
      await Storage.update<Session.Info>(["session", session.projectId, session.id], (draft) => {
        draft.time = { created: fields.time, updated: fields.time }
      })
    },
  })
  await Instance.disposeAll()
  await Storage.close()
}

test("vitamin stats sums turns, tokens and calls of real runs, and counts tasks and forks once", async () => {
  await using tmp = await tmpdir({ git: true })
  await using llm = await fakeLlm(
    byAgent({
      orchestrator: (_, turn) =>
        turn ? text("Hello.") : call("delegate", { agent: "operator", task: "Read README.md" }),
      operator: (_, turn) =>
        [call("read", { path: "README.md" }), call("bash", { command: "exit 3" }), text("hello")][turn]!,
    }),
  )
  const { variables } = env(llm, "chat")
  const ran = await vitamin(tmp, ["run", "--yes", "--agent", "orchestrator", "go"], variables)
  assert.equal(ran.code, 0, ran.err)
  assert.equal((await vitamin(tmp, ["session", "fork"])).code, 0)
  const { used, tools, sessions, tasks, prompts } = await statsOf(tmp)
  assert.deepEqual([sessions, tasks, prompts], [1, 1, 1])
  const today = new Date().toLocaleDateString("sv")
  assert.deepEqual(
    used.map(({ day, model, agent, turns, input, output }) => [day, model, agent, turns, input, output]),
    [
      [today, "openai/fake-model", "operator", 3, 300, 30],
      [today, "openai/fake-model", "orchestrator", 2, 200, 20],
    ],
  )
  assert.deepEqual(tools.map(({ tool, agent, calls, failures }) => [tool, agent, calls, failures]).sort(), [
    ["bash", "operator", 1, 1],
    ["delegate", "orchestrator", 1, 0],
    ["read", "operator", 1, 0],
  ])
  assert.ok(tools.find(({ tool }) => tool === "bash")!.time > 0)
  const { child, url, tokenFile } = await serving(tmp)
  await using _ = child
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` }
  const listed = (await (await fetch(`${url}/session`, { headers })).json()) as Session.Info[]
  const own = listed.find(({ agent, parentId }) => agent === "orchestrator" && !parentId)!
  const cost = (await (await fetch(`${url}/session/${own.id}/cost`, { headers })).json()) as {
    total: { input: number }
  }
  assert.equal(cost.total.input, 500)
})

test("vitamin stats draws bars that fit the terminal, in ASCII without UTF-8", async () => {
  await using tmp = await tmpdir({ git: true })
  await lay(tmp)
  await lay(tmp, { agent: "\u001b[31mred" })
  for (const [columns, locale] of [
    ["100", "C.UTF-8"],
    ["40", "C"],
  ] as const) {
    const args = ["--import", `data:text/javascript,process.stdout.columns=${columns}`]
    const { code, out, err } = await vitamin(tmp, ["stats"], { NODE_OPTIONS: args.join(" "), LC_ALL: locale })
    assert.equal(code, 0, err)
    assert.match(
      out,
      /2 sessions, 0 tasks, 2 prompts, 4 turns\n400 tokens in \(0 cached\), 40 out, \$1\.00\n/,
    )
    assert.doesNotMatch(out, /\u001b/)
    assert.match(out, /\nTool\nread .*7 ms|14 ms/)
    assert.match(out, columns === "100" ? /\$1\.00 {2}█{30}\n/ : /\$0\.5000/)
    for (const line of out.split("\n").slice(2)) assert.ok(line.length <= Number(columns), line)
    if (locale === "C") assert.doesNotMatch(out, /█/)
  }
})

test("vitamin stats --days, --since and --all choose what is counted", async () => {
  await using tmp = await tmpdir({ git: true })
  await lay(tmp)
  await lay(tmp, { age: 3 })
  await lay(tmp, { age: 60 })
  const since = new Date(Date.now() - 3 * day).toLocaleDateString("sv")
  for (const [args, sessions] of [
    [[], 2],
    [["--days", "1"], 1],
    [["--days", "90"], 3],
    [["--since", since], 2],
    [["--since", "1970-01-01"], 3],
  ] as const)
    assert.equal((await statsOf(tmp, ...args)).sessions, sessions, args.join(" "))
  await using other = await tmpdir()
  const elsewhere = { ...other, env: { ...other.env, ...tmp.env } }
  assert.equal((await statsOf(elsewhere)).sessions, 0)
  assert.equal((await statsOf(elsewhere, "--all")).sessions, 2)
  assert.equal((await vitamin(elsewhere, ["stats"])).out, "Nothing was used in this time.")
})

for (const args of [
  ["--since", "2026-02-31"],
  ["--since", "yesterday"],
  ["--since", "2026-1-1"],
  ["--days", "0"],
  ["--days", "1.5"],
  ["--days", "x"],
  ["--days", "3", "--since", "2026-01-01"],
  ["--format", "xml"],
])
  test(`vitamin stats ${args.join(" ")} is refused`, async () => {
    await using tmp = await tmpdir()
    const { code, out, err } = await vitamin(tmp, ["stats", ...args])
    assert.deepEqual([code, out], [2, ""], err)
  })

test("vitamin stats --format csv quotes cells, and lets no name become a formula", async () => {
  await using tmp = await tmpdir({ git: true })
  await lay(tmp, { agent: '=HYPERLINK("http://x","y")', tool: "@SUM(1,2)" })
  await lay(tmp, { agent: " +1\n2", tool: "-1" })
  const { code, out, err } = await vitamin(tmp, ["stats", "--format", "csv"])
  assert.equal(code, 0, err)
  assert.match(out, /^day,model,agent,tool,turns,input,output,.*,cost,calls,failures,time\r?\n/)
  assert.ok(out.includes('"\'=HYPERLINK(""http://x"",""y"")"'), out)
  assert.ok(out.includes('"\'@SUM(1,2)"'), out)
  assert.ok(out.includes('"\' +1\n2"'), out)
  assert.doesNotMatch(out, /(?:^|,)"?\s*[=+@-]/m)
  // A number is no formula.
  assert.match(out, /,2,200,20,0,0,0,0\.5,,,/)
})

test("vitamin stats leaves out records that cannot be read", async () => {
  await using tmp = await tmpdir({ git: true })
  await lay(tmp)
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      const [session] = await Session.list()
      for (const [name, odd] of [
        ["msg_a", { usage: { input: "many", cost: null }, time: Date.now(), agent: 7, model: [] }],
        ["msg_b", { type: "tool_result", data: null, time: Date.now() }],
        ["msg_c", { type: "tool_request", data: { calls: [null, 3] } }],
        ["msg_d", { usage: { input: 1e308, output: -7, cost: -1 }, time: Date.now(), agent: "build" }],
        ["msg_e", { usage: { input: 1e308, cost: 1e308 }, time: Date.now(), agent: { a: 1 } }],
        ["msg_g", { usage: { input: 0 }, time: Date.now(), agent: "x".repeat(5_000) }],
        ["msg_h", { type: "text", time: Date.now(), data: { role: "user", origin: { kind: "rules" } } }],
        ["msg_f", { usage: { input: 5_000 }, time: Date.now() + 3 * day }],
      ] as const)
        await Storage.write(["message", session!.id, name], odd)
    },
  })
  await Instance.disposeAll()
  await Storage.close()
  const { used, prompts } = await statsOf(tmp)
  // A note that vitamin adds is no prompt.
  assert.equal(prompts, 1)
  const sum = (name: "input" | "output" | "cost") => used.reduce((all, row) => all + row[name], 0)
  assert.deepEqual([sum("input"), sum("output"), sum("cost")], [200, 20, 0.5])
  assert.deepEqual([...new Set(used.map(({ agent }) => agent))].sort(), ["", "build", "x".repeat(200)])
})

test("vitamin stats counts sessions beside one whose record is broken", async () => {
  await using tmp = await tmpdir({ git: true })
  await lay(tmp)
  await lay(tmp)
  const records = join(tmp.env.XDG_DATA_HOME!, "vitamin/storage/session")
  const [project] = readdirSync(records)
  const [first] = readdirSync(join(records, project!))
  rmSync(join(tmp.env.XDG_DATA_HOME!, "vitamin/journal"), { recursive: true })
  writeFileSync(join(records, project!, first!), '{"id": "sess_')
  const { sessions } = await statsOf(tmp)
  assert.equal(sessions, 2)
})

test("vitamin stats counts what a fork used itself, also requests that are no answers, and no copies", async () => {
  await using tmp = await tmpdir({ git: true })
  await lay(tmp, { age: 2 })
  await Instance.provide({
    directory: tmp.path,
    async fn() {
      const [origin] = await Session.list()
      const fork = await Session.fork(origin!.id)
      const own = { branch: "main", parentId: null, sessionId: fork.id, agent: "build", model: "openai/m" }
      await MessageStore.write(
        Message.make({
          ...{ ...own, usage, type: "text" },
          data: { role: "assistant", parts: [{ type: "text", text: "ok" }], finish: "stop" },
        }),
      )
      // Of these, 150 are a summary.
      await Storage.update<Session.Info>(["session", fork.projectId, fork.id], (draft) => {
        draft.usage = { ...draft.usage, input: 250, output: 10 }
      })
    },
  })
  await Instance.disposeAll()
  await Storage.close()
  const { used, sessions } = await statsOf(tmp, "--days", "1")
  assert.equal(sessions, 1)
  const sum = (name: "turns" | "input" | "output") => used.reduce((all, row) => all + row[name], 0)
  assert.deepEqual([sum("turns"), sum("input"), sum("output")], [1, 250, 10])
})

test("GET /stats answers the same as the command", async () => {
  await using tmp = await tmpdir({ git: true })
  await lay(tmp)
  await lay(tmp, { age: 3 })
  const { child, url, tokenFile } = await serving(tmp)
  await using _ = child
  const headers = { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` }
  const get = async (query: string) => {
    const answer = await fetch(`${url}/stats${query}`, { headers })
    return { status: answer.status, body: (await answer.json()) as Stats }
  }
  const { body } = await get("")
  const { used, tools } = await statsOf(tmp)
  assert.deepEqual([body.used, body.tools, body.sessions], [used, tools, 2])
  assert.equal((await get(`?since=${Date.now() - day}&all=true`)).body.sessions, 1)
  assert.equal((await get("?since=soon")).status, 400)
})

test("vitamin stats reads many sessions in little memory", async () => {
  await using tmp = await tmpdir({ git: true })
  const sessions = repeat(50, 10_000)
  for (let i = 0; i < sessions; i++) await lay(tmp, { age: i % 20 })
  const { used, sessions: counted } = await statsOf(tmp)
  assert.equal(counted, sessions)
  assert.equal(used.length, 20)
  const limited = await vitamin(tmp, ["stats", "--format", "json"], {
    NODE_OPTIONS: "--max-old-space-size=64",
  })
  assert.equal(limited.code, 0, limited.err)
})
