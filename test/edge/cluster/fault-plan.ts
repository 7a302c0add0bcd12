// Faults of a fleet: workers are killed, paused or cut off from PostgreSQL, and PostgreSQL restarts. Several at a time, in
// an order that a seed decides. Two workers are always left alone.
import { setTimeout as sleep } from "node:timers/promises"
import { type Network, networkTo } from "../../fixture/network-cut.ts"
import { cluster } from "../../fixture/postgres.ts"
import type { Random } from "../../fixture/random.ts"
import { type Audit, type Hit, patiently } from "./fault-audit.ts"
import type { Fleet, Worker } from "./harness.ts"

export type Kind = "kill" | "pause" | "cut" | "restart" | "crash"
export type Faulty = Readonly<{
  /** A server that runs, perhaps paused or cut off. */
  pick(): Worker
  run(counts: Record<Kind, number>): Promise<{ hits: Hit[]; restarts: number[] }>
}> &
  AsyncDisposable
type Member = { worker: Worker; network: Network; isBusy: boolean }

const atOnce = 2

/** `pauseFor`: milliseconds. */
export async function createFaulty(
  fleet: Fleet,
  options: { size: number; random: Random; pauseFor: number; audit: () => Audit },
): Promise<Faulty> {
  const { size, random, pauseFor, audit } = options
  const members: Member[] = []
  const networks: Network[] = []
  const hits: Hit[] = []
  const restarts: number[] = []

  async function addMember(): Promise<Member> {
    const url = new URL(fleet.database.url)
    const network = await networkTo(Number(url.port))
    networks.push(network)
    url.port = String(network.port)
    // It does not start while PostgreSQL is away.
    const worker = await patiently(() => fleet.start({ database: url.href }))
    const member = { worker, network, isBusy: false }
    members.push(member)
    return member
  }

  async function hit(kind: Kind, member: Member, signal?: NodeJS.Signals) {
    const pid = member.worker.child.process.pid!
    const at = Date.now()
    if (signal) member.worker.signal(signal)
    else member.network.cut()
    hits.push({ kind, pid, at, sessions: await audit().sessionsOf(pid) })
  }

  async function kill(member: Member) {
    members.splice(members.indexOf(member), 1)
    await hit("kill", member, "SIGKILL")
    await addMember()
  }

  async function pause(member: Member) {
    await hit("pause", member, "SIGSTOP")
    await sleep(pauseFor)
    member.worker.signal("SIGCONT")
  }

  async function cut(member: Member) {
    await hit("cut", member)
    await sleep(pauseFor)
    member.network.mend()
  }

  async function restart(how: "SIGINT" | "SIGQUIT") {
    restarts.push(Date.now())
    await (await cluster()).restart(how)
  }

  async function apply(kind: Kind) {
    if (kind === "restart") return restart("SIGINT")
    if (kind === "crash") return restart("SIGQUIT")
    const free = members.filter(({ isBusy }) => !isBusy)
    const member = free[random(free.length)]!
    member.isBusy = true
    await { kill, pause, cut }[kind](member)
    member.isBusy = false
  }

  while (members.length < size) await addMember()
  return Object.freeze<Faulty>({
    pick: () => members[random(members.length)]!.worker,
    async run(counts) {
      const plan = shuffle(
        Object.entries(counts).flatMap(([kind, count]) => Array<Kind>(count).fill(kind as Kind)),
        random,
      )
      // One restart of PostgreSQL at a time, and not beside another fault's end.
      let restarting: Promise<void> = Promise.resolve()
      const lane = async () => {
        for (let kind = plan.pop(); kind; kind = plan.pop()) {
          const next = kind
          if (kind === "restart" || kind === "crash") {
            restarting = restarting.then(() => apply(next))
            await restarting
          } else await apply(kind)
          await sleep(500 + random(1_500))
        }
      }
      await Promise.all(Array.from({ length: atOnce }, lane))
      return { hits, restarts }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(networks.map((network) => network[Symbol.asyncDispose]()))
    },
  })
}

function shuffle<T>(list: T[], random: Random): T[] {
  return list
    .map((value) => ({ value, at: random(1e9) }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)
}
