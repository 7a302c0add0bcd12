// The embedder that ships with the program: a file with one vector per piece (subword). The vector of a text is the sum of
// the vectors of its pieces, scaled to unit length. model/README.md describes the format.
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { errorText, NamedError } from "#util/error.ts"
import type { Pieces } from "./types.ts"

export type EmbeddedModel = Readonly<{
  id: string
  dimensions: number
  embed(text: string): Float32Array
  pieces: Pieces
}>

class BrokenModel extends NamedError {
  constructor(path: string, reason: string) {
    super("Embedder.BrokenModel", `The embedder's model file ${path} cannot be used: ${reason}`, { path })
  }
}

/** Known without opening the file. A file with other values is refused. */
export const embeddedFacts = { id: "vitamin-embedded-1", dimensions: 256 }
const modelFile: string = fileURLToPath(new URL("./model/embedder.bin", import.meta.url))
const headerBytes = 20
const maxPieces = 1_000_000
/** Characters of a text that are embedded. More would cost time and add little. */
const maxText = 20_000

const runs = /[A-Za-z]+(?:[0-9](?![0-9]))?|[0-9]+/g
const plain = /^(?:[A-Za-z][a-z0-9]*|[A-Z0-9]+)$/
const humps = /[A-Z]+(?![a-z])[0-9]?|[A-Z]?[a-z]+[0-9]?/g
const digits = /^[0-9]/
const longestPiece = 18

let shared: EmbeddedModel | undefined

/** One copy for the whole process, read when the first text is embedded. */
export function loadEmbedded(): EmbeddedModel {
  shared ??= readEmbedded(modelFile)
  return shared
}

/** `facts`: what the file must be. */
export function readEmbedded(path: string, facts = embeddedFacts): EmbeddedModel {
  const { dimensions, scores, scales, rows, names } = parse(path, readModel(path), facts.dimensions)
  const piecesOf = createPieces(names, scores)
  const pieces: Pieces = Object.freeze({ of: (text: string) => piecesOf(text.slice(0, maxText)), add })

  function add(piece: number, weight: number, sum: Float32Array, from = 0): void {
    const scale = weight * scales[piece]!
    const start = piece * dimensions - from
    // Four at a time: this is most of the time that an index takes.
    for (let at = from; at < from + dimensions; at += 4) {
      sum[at] = sum[at]! + scale * rows[start + at]!
      sum[at + 1] = sum[at + 1]! + scale * rows[start + at + 1]!
      sum[at + 2] = sum[at + 2]! + scale * rows[start + at + 2]!
      sum[at + 3] = sum[at + 3]! + scale * rows[start + at + 3]!
    }
  }

  function embed(text: string): Float32Array {
    const sum = new Float32Array(dimensions)
    for (const piece of pieces.of(text)) pieces.add(piece, 1, sum)
    return toUnit(sum)
  }

  return Object.freeze({ id: facts.id, dimensions, embed, pieces })
}

/** Scales a vector to unit length, in place. The zero vector stays as it is. */
export function toUnit(vector: Float32Array): Float32Array {
  let square = 0
  for (let at = 0; at < vector.length; at++) square += vector[at]! * vector[at]!
  if (square === 0) return vector
  const factor = 1 / Math.sqrt(square)
  for (let at = 0; at < vector.length; at++) vector[at] = vector[at]! * factor
  return vector
}

function readModel(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new BrokenModel(path, errorText(error))
  }
}

function parse(path: string, file: Buffer, wantedDimensions: number) {
  if (file.length < headerBytes || file.toString("latin1", 0, 4) !== "VEMB")
    throw new BrokenModel(path, "it does not begin with VEMB")
  const [version, count, dimensions, listBytes] = [4, 8, 12, 16].map((at) => file.readUInt32LE(at)) as [
    number,
    number,
    number,
    number,
  ]
  if (version !== 1) throw new BrokenModel(path, `its version is ${version}, this program reads version 1`)
  if (dimensions !== wantedDimensions || count < 2 || count > maxPieces)
    throw new BrokenModel(path, `it holds ${count} pieces of ${dimensions} numbers`)
  const wanted = headerBytes + 8 * count + count * dimensions + listBytes
  if (file.length !== wanted)
    throw new BrokenModel(path, `it has ${file.length} bytes and should have ${wanted}`)
  // Views on the file's own memory; a buffer that does not begin at a multiple of four is copied first.
  const bytes = file.byteOffset % 4 === 0 ? file : new Uint8Array(file)
  const at = bytes.byteOffset + headerBytes
  const rowsAt = at + 8 * count
  const names = file.toString("latin1", headerBytes + 8 * count + count * dimensions).split("\n")
  if (names.length !== count)
    throw new BrokenModel(path, `it names ${names.length} pieces and has vectors for ${count}`)
  return {
    dimensions,
    names,
    scores: new Float32Array(bytes.buffer, at, count),
    scales: new Float32Array(bytes.buffer, at + 4 * count, count),
    rows: new Int8Array(bytes.buffer, rowsAt, count * dimensions),
  }
}

/** The tokenizer: splits a text into runs of letters and digits, identifiers at their capitals, and unknown words into the
 * most likely pieces. Row 0 means "unknown" and is never returned. */
export function createPieces(names: readonly string[], scores: Float32Array): (text: string) => number[] {
  const rowOf = new Map<string, number>()
  for (let row = 1; row < names.length; row++) rowOf.set(names[row]!, row)

  function piecesOf(text: string): number[] {
    const found: number[] = []
    for (const run of toAscii(text).match(runs) ?? []) for (const word of wordsOf(run)) add(word, found)
    return found
  }

  function wordsOf(run: string): string[] {
    if (digits.test(run)) return [run.slice(0, 4)]
    const lower = run.toLowerCase()
    if (plain.test(run) || (lower.length > 3 && rowOf.has(lower))) return [lower]
    return (run.match(humps) ?? []).map((part) => part.toLowerCase())
  }

  function add(word: string, found: number[]): void {
    const row = rowOf.get(word)
    if (row !== undefined) found.push(row)
    else segment(word, found)
  }

  /** Viterbi: for every end, the best sum of scores, and the piece that ends there. */
  function segment(word: string, found: number[]): void {
    const best = new Float64Array(word.length + 1).fill(Number.NEGATIVE_INFINITY)
    const from = new Int32Array(word.length + 1)
    const rows = new Int32Array(word.length + 1)
    best[0] = 0
    for (let end = 1; end <= word.length; end++) {
      for (let start = Math.max(0, end - longestPiece); start < end; start++) {
        const row = rowOf.get(word.slice(start, end))
        if (row === undefined) continue
        const score = best[start]! + scores[row]!
        if (score <= best[end]!) continue
        best[end] = score
        from[end] = start
        rows[end] = row
      }
    }
    if (best[word.length] === Number.NEGATIVE_INFINITY) return
    const cut: number[] = []
    for (let end = word.length; end > 0; end = from[end]!) cut.push(rows[end]!)
    found.push(...cut.reverse())
  }

  return piecesOf
}

/** Without accents: "café" is "cafe". Other scripts give no pieces. */
function toAscii(text: string): string {
  return /[^\0-\x7f]/.test(text) ? text.normalize("NFKD").replace(/\p{M}+/gu, "") : text
}
