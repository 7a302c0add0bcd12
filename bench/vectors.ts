// The embedded embedder, the vector table and the semantic cache. Floors of the same run: reading the model's bytes, the same
// dot products over plain float32 arrays, and the limit of a lookup.
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { createSemanticCache } from "#knowledge/cache/semantic-cache.ts"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { readEmbedded } from "#knowledge/embedder/embedded-model.ts"
import { createVectors } from "#knowledge/embedder/vectors.ts"
import { median, quantile, report } from "./measure.ts"

const rows = 100_000
const dimensions = 256
const modelFile = fileURLToPath(new URL("../src/knowledge/embedder/model/embedder.bin", import.meta.url))
const words =
  "read write a file search the web delete issue create branch list user send mail run tests parse config server client".split(
    " ",
  )

let state = 7
function below(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * limit)
}
const sentence = (length: number) => Array.from({ length }, () => words[below(words.length)]).join(" ")

function timed(work: () => unknown): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

/** Times of several runs, the first ones, in which the engine warms up, left out. */
function times(work: () => unknown, count = 15): number[] {
  return Array.from({ length: count + 5 }, () => timed(work)).slice(5)
}

function load(): void {
  const ours = median(times(() => readEmbedded(modelFile), 10))
  report("load the model (8 MB)", ours, median(times(() => readFileSync(modelFile), 10)), "ms")
}

function embed(): void {
  const { embedNow } = createEmbedder()
  const texts = Array.from({ length: 2_000 }, () => sentence(15))
  const each = median(
    times(() => {
      for (const text of texts) embedNow!(text)
    }),
  )
  const row = Int8Array.from({ length: dimensions }, () => below(255) - 127)
  const sum = new Float32Array(dimensions)
  const adding = median(
    times(() => {
      for (let count = 0; count < 15 * texts.length; count++)
        for (let at = 0; at < dimensions; at++) sum[at] = sum[at]! + 0.01 * row[at]!
    }),
  )
  const inMicroseconds = (time: number) => (time * 1_000) / texts.length
  report("embed 15 words (floor: adding their rows)", inMicroseconds(each), inMicroseconds(adding), "µs")
}

function multiply(): void {
  const { embedNow } = createEmbedder()
  const vectors = createVectors(dimensions)
  const plain = createVectors(dimensions, { kind: "javascript" })
  const floats = new Float32Array(rows * dimensions)
  for (let row = 0; row < rows; row++) {
    const vector = embedNow!(sentence(2 + below(8)))
    vectors.put(row, vector)
    plain.put(row, vector)
    floats.set(vector, row * dimensions)
  }
  const query = embedNow!("search the files of a user")
  const scores = new Float32Array(rows)
  const inFloats = () => {
    for (let row = 0, at = 0; row < rows; row++) {
      let sum = 0
      for (let column = 0; column < dimensions; column++) sum += floats[at++]! * query[column]!
      scores[row] = sum
    }
  }
  const floor = median(times(inFloats))
  const ours = median(times(() => vectors.scores(query)))
  report(`${rows} dot products of ${dimensions}, WebAssembly`, ours, floor, "ms", 0.15)
  report("the same without WebAssembly (int8)", median(times(() => plain.scores(query))), floor, "ms")
  const off = Array.from(vectors.scores(query), (score, row) => Math.abs(score - scores[row]!))
  const mean = off.reduce((sum, each) => sum + each, 0) / rows
  console.log(
    `int8 scores are off by ${mean.toFixed(5)} on average, by ${quantile(off, 1).toFixed(5)} at most`,
  )
  const megabytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1)
  console.log(
    `memory of the table ${megabytes(vectors.bytes())} MB (as float32 ${megabytes(floats.byteLength)} MB)`,
  )
}

async function lookUp(): Promise<void> {
  const cache = createSemanticCache({ maxEntries: rows, maxBytes: 1e9 })
  for (let row = 0; row < rows; row++) await cache.store(`${sentence(5)} in part ${row}`, `answer ${row}`)
  const asked = async (query: () => string) => {
    const found: number[] = []
    for (let count = 0; count < 60; count++) found.push((await cache.lookup(query())).lookupMs)
    return median(found.slice(10))
  }
  const limit = 10
  const entries = `${cache.stats().totalEntries} entries`
  await cache.store("run the tests of the parser", "done")
  report(`lookup among ${entries}: exact`, await asked(() => "run the tests of the parser"), limit, "ms", 1)
  report(
    "  in another dress",
    await asked(() => "Could you please run the tests of the parser?"),
    limit,
    "ms",
    1,
  )
  report("  a miss", await asked(() => sentence(6)), limit, "ms", 1)
}

load()
embed()
multiply()
await lookUp()
