// How long after the check of a lease a call begins: a worker that is paused in between starts a call that another one may
// have taken over. The network between the worker and PostgreSQL notes when the answer of the check passes; the first effect is
// the time of the file that `write` makes, and the clock as the first program of `bash` reads it.
import { once } from "node:events"
import { readFileSync, statSync } from "node:fs"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import { bash, newSession, startFleet } from "../test/edge/cluster/harness.ts"
import { call, fakeLlm, text } from "../test/fixture/fake-llm.ts"
import { quantile } from "./measure.ts"

const times = Number(process.env.ROUNDS ?? 3) * 20

export async function measureWindow(): Promise<void> {
  let name = "write"
  await using llm = await fakeLlm(({ messages }) => {
    if (messages.at(-1)!.results.length) return text("Done.")
    return name === "write"
      ? call("write", { path: "effect.txt", content: String(Math.random()) })
      : call("bash", { command: "sh clock.sh" })
  })
  await using fleet = await startFleet(0, llm)
  fleet.tmp.write("clock.sh", "date +%s%N > clock.txt\n")
  const url = new URL(fleet.database.url)
  const network = await checksOf(Number(url.port))
  url.port = String(network.port)
  const worker = await fleet.start({ database: url.href })
  const effects = {
    write: () =>
      Number(statSync(join(fleet.tmp.path, "effect.txt"), { bigint: true }).mtimeNs / 1_000n) / 1_000,
    bash: () => Number(readFileSync(join(fleet.tmp.path, "clock.txt"), "utf8")) / 1e6,
  }
  for (name of ["write", "bash"]) {
    const windows: number[] = []
    for (let i = 0; i < times; i++) {
      const session = await newSession(worker)
      const { status, body } = await worker.call("POST", `/session/${session}/message`, {
        ...bash,
        text: "go",
      })
      if (status !== 200) throw new Error(JSON.stringify(body))
      if (i > 0) windows.push(effects[name as "write" | "bash"]() - network.answeredAt())
    }
    const of = (q: number) => quantile(windows, q).toFixed(1)
    console.log(
      `from the check of the lease to the effect of ${name}`.padEnd(52),
      `median ${of(0.5)} ms, p95 ${of(0.95)} ms, longest ${of(1)} ms (a paused worker counts as dead after 2500 ms)`,
    )
  }
  await worker.child[Symbol.asyncDispose]()
  network.close()
}

/** A way to PostgreSQL that notes when the last check of a lease was answered. */
async function checksOf(port: number) {
  let answeredAt = 0
  const server = createServer((client) => {
    const database = connect(port, "127.0.0.1")
    let isAsked = false
    client.on("data", (bytes) => {
      isAsked ||= bytes.includes("check lease")
      database.write(bytes)
    })
    database.on("data", (bytes) => {
      if (isAsked) answeredAt = performance.timeOrigin + performance.now()
      isAsked = false
      client.write(bytes)
    })
    client.on("error", () => {}).on("close", () => database.destroy())
    database.on("error", () => {}).on("close", () => client.destroy())
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as { port: number }).port,
    answeredAt: () => answeredAt,
    close: () => server.close(),
  }
}
