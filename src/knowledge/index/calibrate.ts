// Maps the cosines of another embedder to the scale of the embedded model, for which all thresholds were chosen. Both
// embed the same short texts: requests, and documents that match or do not match them.
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { createWeigher } from "./weigh.ts"

export type Scale = (cosine: number) => number

const pairs: readonly (readonly [query: string, name: string, text: string])[] = [
  ["review my pull request", "code review", "Reviews a diff for bugs, missing tests and naming."],
  ["what will the weather be tomorrow?", "forecast", "Shows the weather of the next days at a place."],
  ["put the numbers into a spreadsheet", "xlsx", "Opens, edits and creates spreadsheet files."],
  ["pay the customer back", "create refund", "Refunds a payment to a customer."],
  ["schedule a call with Ada", "create meeting", "Puts a meeting into the calendar and invites people."],
  ["why is this database query slow?", "explain query", "Shows the plan of a database query."],
  ["translate the letter into French", "translate", "Translates a text into another language."],
  ["play some music by Bach", "start playback", "Plays a track or an album of the music library."],
]
/** Between matching and other documents. An embedder below it cannot be used. */
const leastDistance = 0.05

export async function calibrate(embedder: Embedder): Promise<Scale> {
  const [own, base] = [await measure(embedder), await measure(createEmbedder())]
  const distance = own.near - own.far
  if (!(distance >= leastDistance))
    throw new Error(
      `${embedder.id} puts a request no nearer to what it is about (${own.near.toFixed(2)}) than to anything else (${own.far.toFixed(2)})`,
    )
  return (cosine) => base.far + ((cosine - own.far) * (base.near - base.far)) / distance
}

/** The mean cosine of requests with matching documents, and with the others. */
async function measure(embedder: Embedder): Promise<{ near: number; far: number }> {
  const weigher = createWeigher(embedder)
  const documents = await weigher.documents(
    pairs.map(([, name, text]) => ({ id: name, group: "", name, text })),
  )
  const sums = { near: 0, far: 0 }
  for (const [at, [query]] of pairs.entries()) {
    const { vector } = await weigher.question(query)
    for (const [other, document] of documents.entries())
      sums[at === other ? "near" : "far"] += document.reduce((sum, value, i) => sum + value * vector[i]!, 0)
  }
  const { length } = pairs
  return { near: sums.near / length, far: sums.far / (length * (length - 1)) }
}
