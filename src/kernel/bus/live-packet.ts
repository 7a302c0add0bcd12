// Live events on their way to other servers: packets that fit a notification of PostgreSQL. Everybody who may connect to the
// database can listen and notify, so packets are sealed with a key from the tables (AES-256-GCM).
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { z } from "zod"
import type { Event } from "./global-bus.ts"

/** `number`: the packets of a server, counted. `after`: the newest stored event that its clients got before these. */
const Packet = z.object({
  version: z.literal(1),
  from: z.string(),
  number: z.int(),
  after: z.int(),
  events: z.array(
    z.object({
      type: z.string().regex(/^[a-z][\w.-]*$/i),
      time: z.number(),
      directory: z.string(),
      payload: z.unknown(),
    }),
  ),
})
export type Packet = z.infer<typeof Packet>

const algorithm = "aes-256-gcm"
const [nonceBytes, tagBytes] = [12, 16]
/** A notification has less than 8000 bytes, in base64. The rest of a packet needs some, too. */
const maxEvents = 5_600

/** The events of a packet each. One that is too large is divided at its text; if it has none, it is left out. */
export function divide(events: readonly Event[]): Event[][] {
  const packets: Event[][] = []
  let size = maxEvents
  for (const event of events.flatMap(fitting)) {
    const own = sizeOf(event)
    if (size + own > maxEvents) {
      packets.push([])
      size = 0
    }
    packets.at(-1)!.push(event)
    size += own
  }
  return packets
}

function fitting(event: Event): Event[] {
  if (sizeOf(event) <= maxEvents) return [event]
  const payload = event.payload as { text?: unknown }
  if (typeof payload?.text !== "string" || payload.text.length < 2) return []
  const { text } = payload
  let half = text.length >> 1
  // Not between the two halves of a character.
  if (/[\uDC00-\uDFFF]/.test(text[half]!)) half++
  return [text.slice(0, half), text.slice(half)].flatMap((part) =>
    part === text ? [] : fitting({ ...event, payload: { ...payload, text: part } }),
  )
}

function sizeOf(event: Event): number {
  return Buffer.byteLength(JSON.stringify(event)) + 1
}

export function seal(key: Buffer, packet: Packet): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce)
  const body = [cipher.update(JSON.stringify(packet)), cipher.final()]
  return Buffer.concat([nonce, cipher.getAuthTag(), ...body]).toString("base64")
}

/** Undefined for what no server of the fleet has sealed, and for packets of another version. */
export function unseal(key: Buffer, sealed: string): Packet | undefined {
  try {
    const bytes = Buffer.from(sealed, "base64")
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes))
    const body = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()])
    return Packet.parse(JSON.parse(body.toString()))
  } catch {
    return undefined
  }
}
