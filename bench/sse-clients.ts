// The clients of bench/sse.ts, all in one process: they count frames by their ids, and drop and come back as told.
import { request } from "node:http"

export type Order = { port: number; token: string; clients: number; events: number; drops: number }
export type Outcome = { lost: number; doubled: number; gaps: number }

const separator = Buffer.from("\n\n")
const idPrefix = Buffer.from("id: ")

process.on("message", async (order: Order) => {
  const outcome: Outcome = { lost: 0, doubled: 0, gaps: 0 }
  const done: Promise<void>[] = []
  for (let i = 0; i < order.clients; i++) {
    const { opened, finished } = run(order, i, outcome)
    await opened
    done.push(finished)
  }
  process.send?.("connected")
  await Promise.all(done)
  process.send?.(outcome)
})

function run(order: Order, client: number, outcome: Outcome) {
  const opened = Promise.withResolvers<void>()
  const finished = Promise.withResolvers<void>()
  let last: number | undefined
  let got = 0
  let drops = 0
  const goal = () => Math.floor((order.events * (drops + 1)) / (order.drops + 1)) - client

  function connect() {
    const headers = {
      authorization: `Bearer ${order.token}`,
      ...(last === undefined ? {} : { "last-event-id": last }),
    }
    const call = request(
      { port: order.port, host: "127.0.0.1", path: "/event", headers, agent: false },
      (response) => {
        last ??= Number(response.headers["x-vitamin-cursor"])
        opened.resolve()
        let rest: Buffer = Buffer.alloc(0)
        let left = false
        response.on("error", () => {})
        response.on("data", (part: Buffer) => {
          if (left) return
          rest = take(rest.length > 0 ? Buffer.concat([rest, part]) : part)
          left = got >= order.events || (drops < order.drops && got >= goal())
          if (!left) return
          call.destroy()
          if (got >= order.events) return finished.resolve()
          drops++
          connect()
        })
      },
    )
    call.on("error", () => {})
    call.end()
  }

  function take(bytes: Buffer): Buffer {
    let start = 0
    for (let end = bytes.indexOf(separator); end >= 0; end = bytes.indexOf(separator, start)) {
      if (bytes.compare(idPrefix, 0, 4, start, start + 4) === 0) count(bytes, start)
      start = end + 2
    }
    return bytes.subarray(start)
  }

  function count(bytes: Buffer, start: number) {
    const line = bytes.indexOf(10, start)
    const id = Number(bytes.toString("latin1", start + 4, line))
    if (bytes[line + 8] === 103 && bytes.toString("latin1", line + 1, line + 11) === "event: gap")
      return void outcome.gaps++
    if (last !== undefined && id <= last) return void outcome.doubled++
    if (last !== undefined && id > last + 1) outcome.lost += id - last - 1
    last = id
    got++
  }

  connect()
  return { opened: opened.promise, finished: finished.promise }
}
