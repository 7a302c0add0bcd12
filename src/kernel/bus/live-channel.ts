// Live events between servers: text that is still streaming reaches the clients of all servers. They are collected for a
// moment, sent by NOTIFY and never stored; one that is lost is in the stored message. Nothing is sent unless another server has
// a client.
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { frameOf } from "./event-frame.ts"
import type { Event } from "./global-bus.ts"
import { createLiveBatch } from "./live-batch.ts"
import { divide, seal, unseal } from "./live-packet.ts"

export type LiveChannel = Readonly<{
  /** Whether another server has clients. */
  isWanted(): boolean
  /** Send an event soon. The clients of this server have it. */
  add(event: Event): void
  /** The events that wait to be sent; they do not wait any more. */
  take(): Event[]
  /** Resolves when what is being sent has arrived at the database, or soon. */
  sent(): Promise<unknown>
  /** The notifications of events that come after a stored one. */
  packetsOf(after: number, events: readonly Event[]): string[]
  /** A notification of any server, or of anybody else. */
  hear(sealed: string): void
  /** The stored event that must be delivered before the next live events of other servers. */
  awaits(): number | undefined
  /** Frames of other servers that come after a stored event, which was delivered. */
  release(delivered: number): string
  /** Whether this server has clients. */
  watch(isWatched: boolean): void
  close(): void
}>

/** Milliseconds. */
const collectFor = 75
/** A server with clients says so this often. */
const sayEvery = 5_000
const wantedFor = 15_000
/** Stored events wait so long for live events that are on their way, to keep their order. */
const maxDelay = 1_000
const mostPackets = 16
/** Characters of frames that wait for a stored event. */
const maxHeard = 1 << 20

export function createLiveChannel(options: {
  key: Buffer
  /** The newest stored event that the clients of this server have. */
  delivered(): number
  send(packets: string[]): Promise<void>
  /** Live events of another server have come. */
  heard(): void
}): LiveChannel {
  const { key, delivered, send } = options
  const from = randomUUID()
  const batch = createLiveBatch()
  const newestOf = new Map<string, number>()
  let heard: { after: number; frames: string }[] = []
  let number = 0
  let wantedUntil = Number.NEGATIVE_INFINITY
  let isWatched = false
  let sending: Promise<void> | undefined
  let collecting: NodeJS.Timeout | undefined
  let saying: NodeJS.Timeout | undefined

  function packet(after: number, events: Event[]): string {
    return seal(key, { version: 1, from, number: ++number, after, events })
  }

  function packetsOf(after: number, events: readonly Event[]): string[] {
    const joined = createLiveBatch()
    for (const event of events) joined.add(event)
    return divide(joined.take())
      .slice(0, mostPackets)
      .map((part) => packet(after, part))
  }

  function add(event: Event) {
    batch.add(event)
    collecting ??= setTimeout(flush, collectFor).unref()
  }

  /** One at a time: if the database is slow, batches become larger, and then leave something out. */
  function flush() {
    collecting = undefined
    if (batch.isEmpty()) return
    if (sending) {
      collecting = setTimeout(flush, collectFor).unref()
      return
    }
    sending = sendQuietly(packetsOf(delivered(), batch.take())).finally(() => {
      sending = undefined
    })
  }

  async function sendQuietly(packets: string[]) {
    await send(packets).catch((error) =>
      Log.debug("live events did not reach other servers", { error: errorText(error) }),
    )
  }

  function hear(sealed: string) {
    const packet = unseal(key, sealed)
    // Nobody can repeat a packet: its number has been seen.
    if (!packet || packet.from === from || packet.number <= (newestOf.get(packet.from) ?? 0)) return
    newestOf.set(packet.from, packet.number)
    // A packet without events says that its server has clients.
    if (packet.events.length === 0) wantedUntil = performance.now() + wantedFor
    else if (isWatched) keep(packet.after, packet.events)
  }

  function keep(after: number, events: Event[]) {
    if (heard.reduce((sum, { frames }) => sum + frames.length, 0) > maxHeard) heard = []
    heard.push({ after, frames: events.map(frameOf).join("") })
    options.heard()
  }

  function release(upTo: number): string {
    const isDue = ({ after }: { after: number }) => after <= upTo
    const frames = heard.filter(isDue).map((one) => one.frames)
    heard = heard.filter((one) => !isDue(one))
    return frames.join("")
  }

  function watch(value: boolean) {
    isWatched = value
    clearInterval(saying)
    if (!value) return
    saying = setInterval(say, sayEvery).unref()
    say()
  }

  function say() {
    void sendQuietly([packet(0, [])])
  }

  return Object.freeze<LiveChannel>({
    isWanted: () => performance.now() < wantedUntil,
    add,
    take: batch.take,
    sent: async () => sending && Promise.race([sending, sleep(maxDelay)]),
    packetsOf,
    hear,
    awaits: () => (heard.length ? Math.min(...heard.map(({ after }) => after)) : undefined),
    release,
    watch,
    close() {
      clearTimeout(collecting)
      clearInterval(saying)
    },
  })
}
