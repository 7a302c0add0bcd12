// `npm run demo`: three workers on one PostgreSQL. One is killed in the middle of a turn, and another one finishes it.
// Needs Debian's PostgreSQL and nothing else: the database is private, and the model is a script on loopback.
//   npm run demo            from the start to the end
//   npm run demo -- --keep  waits for Enter before the kill, then keeps the rest until Ctrl-C, to look at the page
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { type Client, createClient, createHttpTransport, type Message } from "#client/client.ts"
import type { Child } from "../test/fixture/child.ts"
import { startVitamin } from "../test/fixture/cli.ts"
import { call, env, fakeLlm, type Reply, text } from "../test/fixture/fake-llm.ts"
import { noPostgres, type TmpDatabase, tmpDatabase } from "../test/fixture/postgres.ts"
import { type Tmp, tmpdir } from "../test/fixture/tmpdir.ts"
import { until } from "../test/fixture/until.ts"

type Worker = { name: string; url: string; child: Child; client: Client }

const prompt = "Run the migration, and tell me how it went."
/** Ends with the demonstration, which removes the folder. */
const command = "touch started; echo migrating; while [ -e started ]; do sleep 0.5; done"
const answer =
  "The migration was interrupted, because its worker is gone. It may have happened in part, so I did not start it again. Shall I look at the tables?"
const isKept = process.argv.includes("--keep")
const began = performance.now()
const stack = new AsyncDisposableStack()
const stopped = new Promise<void>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve())
})

if (noPostgres) {
  console.error(`${noPostgres}. Install it: apt-get install postgresql`)
  process.exit(1)
}
const failure = await Promise.race([
  demonstrate().then(
    () => undefined,
    (error: Error) => error,
  ),
  stopped,
])
if (failure) console.error(failure)
await stack.disposeAsync()
say("stopped the workers, the model and PostgreSQL, and removed their files")
process.exit(failure ? 1 : 0)

async function demonstrate(): Promise<void> {
  const tmp = stack.use(await tmpdir({ git: true }))
  const database = stack.use(await tmpDatabase())
  say("PostgreSQL runs as an ordinary user, in a temporary folder")
  const llm = stack.use(await fakeLlm((_, turn) => replyOf(turn)))
  const start = (number: number) => startWorker(number, tmp, { llm, database })
  const workers = await Promise.all([1, 2, 3].map(start))

  const first = workers[0]!
  const { id } = await first.client.createSession({ title: "A migration" })
  await first.client.promptSession({ id, text: prompt, allow: ["bash.execute"], prefer: "respond-async" })
  say(`prompt to ${first.name}: ${prompt}`)
  await until(() => existsSync(join(tmp.path, "started")), "the call")
  const victim = (await holderOf(id, workers, database))!
  say(`${victim.name} works on it; its command runs`)
  const others = workers.filter((one) => one !== victim)
  const [watched] = others
  await showPage(watched!, id, tmp)
  if (isKept) await pressedEnter(`press Enter to kill ${victim.name}`)

  victim.child.process.kill("SIGKILL")
  const killedAt = performance.now()
  await victim.child.exit
  say(`killed ${victim.name} (kill -9 ${victim.child.process.pid}) in the middle of the turn`)
  let successor: Worker | undefined
  await until(async () => {
    successor = await holderOf(id, workers, database)
    return successor !== victim
  }, "the takeover")
  const seconds = ((performance.now() - killedAt) / 1_000).toFixed(1)
  say(
    `${successor?.name ?? "another worker"} noticed that it is dead, and goes on with the turn after ${seconds} s`,
  )
  await until(async () => (await watched!.client.getSession({ id })).status === "idle", "the end of the turn")
  say("the turn is finished:")
  for (const line of (await watched!.client.listMessages({ id })).flatMap(linesOf))
    console.log(`           ${line}`)
  if (!isKept) return
  say("the page stays until you press Ctrl-C")
  await stopped
}

function replyOf(turn: number): Reply {
  if (turn === 0) return call("bash", { command })
  return text(turn === 1 ? answer : "This answer is part of a script, like everything that I say.", {
    deltas: 30,
    delay: 40,
  })
}

/** Each worker has a home of its own, as on a machine of its own. They share the folder of the project. */
async function startWorker(
  number: number,
  tmp: Tmp,
  { llm, database }: { llm: { url: string }; database: TmpDatabase },
): Promise<Worker> {
  const home = join(tmp.path, "..", `worker-${number}`)
  const homes = Object.keys(tmp.env).filter((name) => name === "HOME" || name.startsWith("XDG_"))
  const child = stack.use(
    startVitamin(tmp, ["serve", "--port", "0", "--trust"], {
      ...Object.fromEntries(homes.map((name) => [name, join(home, name)])),
      ...env(llm, "chat").variables,
      VITAMIN_DATABASE: database.url,
    }),
  )
  const [, url, file] = /on (http:\S+) \(token in (.+)\)$/.exec(await child.line(/listening/))!
  const token = readFileSync(file!, "utf8").trim()
  const client = createClient(createHttpTransport({ url: url!, token, directory: tmp.path }))
  const name = `worker ${number}`
  say(`${name} runs at ${url} (process ${child.process.pid})`)
  return { name, url: url!, child, client }
}

/** The worker that has the lease of the session. */
async function holderOf(id: string, workers: Worker[], database: TmpDatabase): Promise<Worker | undefined> {
  const text = "select worker from vitamin.lease where session = $1"
  const [row] = await database.query<{ worker: string }>(text, [id])
  return row && workers.find(({ child }) => row.worker.includes(`-${child.process.pid}-`))
}

async function showPage({ name, url, client }: Worker, id: string, tmp: Tmp): Promise<void> {
  const { code } = await client.createBrowserCode()
  say(`the page of ${name}; the address works once, within a minute:`)
  console.log(`           ${url}/#code=${code}&folder=${encodeURIComponent(tmp.path)}`)
  console.log(`           then ${url}/#/session/${id}`)
}

async function pressedEnter(question: string): Promise<void> {
  say(question)
  const lines = createInterface({ input: process.stdin })
  for await (const _ of lines) break
  lines.close()
}

function linesOf({ type, data }: Message): string[] {
  if (type === "text")
    return [
      `${data.role}: ${
        data.parts
          .map(({ text }) => text)
          .join("")
          .split("\n")[0]
      }`,
    ]
  if (type === "tool_request") return data.calls.map(({ name }) => `call: ${name}`)
  return type === "tool_result" ? [`result: ${data.status}`] : []
}

/** A line with the seconds since the start. */
function say(line: string): void {
  console.log(`[${((performance.now() - began) / 1_000).toFixed(1).padStart(5)} s]  ${line}`)
}
