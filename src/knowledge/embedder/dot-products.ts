// The memory of a vector table, and the dot products over it: in WebAssembly if SIMD is available, else in JavaScript, with
// the same operations in the same order, so that both give the same bits.
import { wasm } from "./dot-products-wasm.ts"

/** Offsets in the memory, in bytes. `width`: bytes of a row, a multiple of sixteen. */
type Job = {
  rows: number
  scales: number
  query: number
  out: number
  count: number
  width: number
  factor: number
}
export type DotProducts = Readonly<{
  kind: "wasm" | "javascript"
  /** Another one after the memory has grown. */
  buffer(): ArrayBuffer
  grow(bytes: number): void
  /** Computes the dot product of each row with the query, times the row's scale and the factor. */
  run(job: Job): void
}>

/** The used part of WebAssembly, which is missing in a Node without JIT. */
type Memory = { buffer: ArrayBuffer; grow(pages: number): number }
type Instance = { exports: { dots(...numbers: number[]): void } }
type Wasm = {
  validate(bytes: Uint8Array): boolean
  Module: new (bytes: Uint8Array) => object
  Memory: new (size: { initial: number }) => Memory
  Instance: new (module: object, imports: object) => Instance
}

const page = 65_536
const { WebAssembly } = globalThis as unknown as { WebAssembly?: Wasm }
let compiled: object | null | undefined

export function createDotProducts(kind?: DotProducts["kind"]): DotProducts {
  const module = kind === "javascript" ? null : compile()
  const memory = module && allocate()
  return WebAssembly && memory
    ? createFast(new WebAssembly.Instance(module, { env: { memory } }), memory)
    : createPlain()
}

/** Null without SIMD or without WebAssembly. */
function compile(): object | null {
  if (compiled !== undefined) return compiled
  const bytes = Buffer.from(wasm, "base64")
  compiled = WebAssembly?.validate(bytes) ? new WebAssembly.Module(bytes) : null
  return compiled
}

/** A WebAssembly memory reserves far more address space than it uses. After a failure it is not tried again. */
function allocate(): Memory | undefined {
  try {
    return WebAssembly && new WebAssembly.Memory({ initial: 1 })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    compiled = null
    return undefined
  }
}

function createFast({ exports: { dots } }: Instance, memory: Memory): DotProducts {
  function grow(bytes: number): void {
    const missing = Math.ceil((bytes - memory.buffer.byteLength) / page)
    if (missing > 0) memory.grow(missing)
  }

  return Object.freeze({
    kind: "wasm",
    buffer: () => memory.buffer,
    grow,
    run: ({ rows, scales, query, out, count, width, factor }) =>
      dots(rows, scales, query, out, count, width, factor),
  })
}

function createPlain(): DotProducts {
  let buffer = new ArrayBuffer(page)

  function grow(bytes: number): void {
    if (bytes > buffer.byteLength) buffer = buffer.transfer(Math.ceil(bytes / page) * page)
  }

  function run({ rows, scales, query, out, count, width, factor }: Job): void {
    const row = new Int8Array(buffer, rows, count * width)
    const wanted = new Int16Array(buffer, query, width)
    const scale = new Float32Array(buffer, scales, count)
    const result = new Float32Array(buffer, out, count)
    const { fround } = Math
    for (let number = 0, at = 0; number < count; number++) {
      let sum = 0
      for (let column = 0; column < width; column++) sum += row[at++]! * wanted[column]!
      result[number] = fround(fround(fround(sum) * scale[number]!) * fround(factor))
    }
  }

  return Object.freeze({ kind: "javascript", buffer: () => buffer, grow, run })
}
