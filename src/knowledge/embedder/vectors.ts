// A growing table of unit vectors, compared with a query all at once. A row is kept as int8 with a scale, a quarter of the
// memory; a score is off by 0.0003 on average and 0.0023 at most (100 000 texts of the embedded model, bench/vectors.ts).
import { NamedError } from "#util/error.ts"
import { createDotProducts, type DotProducts } from "./dot-products.ts"

export type Vectors = Readonly<{
  /** Replaces the vector in a slot. Slots are small numbers, which the caller assigns and reuses. */
  put(slot: number, vector: Float32Array): void
  /** An empty slot scores 0. */
  remove(slot: number): void
  /** The vector in a slot, rounded: each number within 0.4 % of the largest. */
  get(slot: number): Float32Array
  /** One per slot, up to the highest that was used. */
  scores(query: Float32Array): Float32Array
  /** Bytes that the table holds. */
  bytes(): number
}>

class WrongDimensions extends NamedError {
  constructor(given: number, wanted: number) {
    const text = `A vector has ${given} numbers; this table holds vectors of ${wanted}.`
    super("Vectors.WrongDimensions", text, { given, wanted })
  }
}

/** Rows of a block. Blocks never move, so growing copies nothing. */
const blockRows = 1_024
const maxSlots = 4_000_000
/** Sums of products must stay within 32 bits. */
const maxSum = 2 ** 31 - 1

export function createVectors(dimensions: number, options: { kind?: DotProducts["kind"] } = {}): Vectors {
  const width = Math.ceil(dimensions / 16) * 16
  const maxQuery = Math.min(32_767, Math.floor(maxSum / (127 * width)))
  const query = 0
  const out = 2 * width
  const head = out + 4 * blockRows
  const blockBytes = blockRows * (4 + width)
  const products = createDotProducts(options.kind)
  let slots = 0

  function put(slot: number, vector: Float32Array): void {
    check(vector)
    if (!Number.isInteger(slot) || slot < 0 || slot >= maxSlots)
      throw new RangeError(`The slot ${slot} is not a whole number from 0 to ${maxSlots - 1}.`)
    reach(slot)
    const scale = write(new Int8Array(products.buffer(), rowAt(slot), width), vector, 127)
    new Float32Array(products.buffer(), scaleAt(slot), 1)[0] = scale
  }

  function remove(slot: number): void {
    if (slot < slots) new Float32Array(products.buffer(), scaleAt(slot), 1)[0] = 0
  }

  function get(slot: number): Float32Array {
    const vector = new Float32Array(dimensions)
    if (slot >= slots || isEmpty(slot)) return vector
    const scale = new Float32Array(products.buffer(), scaleAt(slot), 1)[0]!
    const row = new Int8Array(products.buffer(), rowAt(slot), dimensions)
    for (let at = 0; at < dimensions; at++) vector[at] = row[at]! * scale
    return vector
  }

  function scores(wanted: Float32Array): Float32Array {
    check(wanted)
    const result = new Float32Array(slots)
    const factor = write(new Int16Array(products.buffer(), query, width), wanted, maxQuery)
    if (factor === 0) return result
    for (let first = 0; first < slots; first += blockRows) {
      const count = Math.min(blockRows, slots - first)
      products.run({ rows: rowAt(first), scales: scaleAt(first), query, out, count, width, factor })
      result.set(new Float32Array(products.buffer(), out, count), first)
    }
    return result
  }

  const scaleAt = (slot: number) => head + Math.floor(slot / blockRows) * blockBytes + (slot % blockRows) * 4
  const rowAt = (slot: number) =>
    head + Math.floor(slot / blockRows) * blockBytes + 4 * blockRows + (slot % blockRows) * width
  const isEmpty = (slot: number) => new Float32Array(products.buffer(), scaleAt(slot), 1)[0] === 0

  function reach(slot: number): void {
    if (slot < slots) return
    products.grow(head + (Math.floor(slot / blockRows) + 1) * blockBytes)
    slots = slot + 1
  }

  function check(vector: Float32Array): void {
    if (vector.length !== dimensions) throw new WrongDimensions(vector.length, dimensions)
  }

  const bytes = () => products.buffer().byteLength
  return Object.freeze({ put, remove, get, scores, bytes })
}

/** Writes a vector as integers up to `max` and returns their scale. A vector that is not finite is written as zero. */
function write(into: Int8Array | Int16Array, vector: Float32Array, max: number): number {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  if (largest === 0 || !Number.isFinite(largest)) {
    into.fill(0)
    return 0
  }
  const factor = max / largest
  for (let at = 0; at < vector.length; at++) into[at] = Math.round(vector[at]! * factor)
  return Math.fround(largest / max)
}
