// Assembles the WebAssembly of the vector table (src/knowledge/embedder/dot-products-wasm.ts): dot products of many rows of
// int8 with one query of int16, sixteen numbers at a time. Opcodes have the names of the specification, so that a reader can
// check each, and a test compares what is assembled here with what ships.
//   node script/dot-products.ts --write    writes the file
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

type Code = (number | Code)[]

const file = fileURLToPath(new URL("../src/knowledge/embedder/dot-products-wasm.ts", import.meta.url))

const i32 = 0x7f
const f32 = 0x7d
const v128 = 0x7b
const noResult = 0x40

/** Numbers of variable length, seven bits a byte; the ones here are small and not negative. */
const unsigned = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]
const signed = (value: number): number[] =>
  value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)]
const counted = (items: Code): Code => [...unsigned(items.length), ...items]
const sized = (code: Code): Code => counted(flat(code))
const section = (id: number, content: Code): Code => [id, sized(content)]
const text = (value: string): Code => counted([...Buffer.from(value)])

const get = (local: number): Code => [0x20, local]
const set = (local: number): Code => [0x21, local]
const loop = (body: Code): Code => [0x03, noResult, body, 0x0b]
const branchIf = (depth: number): Code => [0x0d, depth]
const i32Const = (value: number): Code => [0x41, ...signed(value)]
const i32Add: Code = [0x6a]
const i32Sub: Code = [0x6b]
const i32LessUnsigned: Code = [0x49]
const f32Load: Code = [0x2a, 2, 0]
const f32Store: Code = [0x38, 2, 0]
const f32Multiply: Code = [0x94]
const f32FromI32: Code = [0xb2]
const simd = (opcode: number, ...rest: Code): Code => [0xfd, ...unsigned(opcode), ...rest]
/** The alignment is a hint: rows need not begin at a multiple of it. */
const v128Load = (offset: number): Code => simd(0, 0, ...unsigned(offset))
const v128Zero: Code = simd(12, ...new Array(16).fill(0))
const i16FromLowI8: Code = simd(135)
const i16FromHighI8: Code = simd(136)
const i32Dot: Code = simd(186)
const i32x4Add: Code = simd(174)
const i32Lane = (lane: number): Code => simd(27, lane)

// The parameters, then the locals.
const [rows, scales, query, out, count, width, factor] = [0, 1, 2, 3, 4, 5, 6]
const [at, end, low, high, sixteen] = [7, 8, 9, 10, 11]

const advance = (local: number, by: number): Code => [get(local), i32Const(by), i32Add, set(local)]
/** Adds the products of eight numbers of the row with eight of the query, as four sums. */
const accumulate = (sum: number, extend: Code, offset: number): Code => [
  ...[get(sum), get(sixteen), extend, get(at), v128Load(offset), i32Dot, i32x4Add, set(sum)],
]

const eachSixteen: Code = loop([
  ...[get(rows), v128Load(0), set(sixteen)],
  accumulate(low, i16FromLowI8, 0),
  accumulate(high, i16FromHighI8, 16),
  advance(at, 32),
  advance(rows, 16),
  ...[get(rows), get(end), i32LessUnsigned, branchIf(0)],
])
const laneSum: Code = [
  ...[get(low), get(high), i32x4Add, set(low)],
  ...[get(low), i32Lane(0), get(low), i32Lane(1), i32Add],
  ...[get(low), i32Lane(2), i32Add, get(low), i32Lane(3), i32Add],
]
/** out = sum × scale of the row × factor of the query. `count` and `width` are at least one. */
const eachRow: Code = loop([
  ...[v128Zero, set(low), v128Zero, set(high)],
  ...[get(query), set(at), get(rows), get(width), i32Add, set(end)],
  eachSixteen,
  ...[get(out), laneSum, f32FromI32, get(scales), f32Load, f32Multiply, get(factor), f32Multiply, f32Store],
  advance(scales, 4),
  advance(out, 4),
  ...[get(count), i32Const(1), i32Sub, set(count), get(count), branchIf(0)],
])

const locals: Code = [2, ...[2, i32], ...[3, v128]]
const module: Code = [
  ...[0x00, ...Buffer.from("asm"), 1, 0, 0, 0],
  section(1, [1, 0x60, counted([i32, i32, i32, i32, i32, i32, f32]), 0]),
  section(2, [1, text("env"), text("memory"), 0x02, 0x00, 1]),
  section(3, [1, 0]),
  section(7, [1, text("dots"), 0x00, 0]),
  section(10, [1, sized([locals, eachRow, 0x0b])]),
]

export function assemble(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(flat(module))
}

function flat(code: Code): number[] {
  return (code as unknown[]).flat(Number.POSITIVE_INFINITY) as number[]
}

function source(bytes: Uint8Array): string {
  return [
    "// Written by script/dot-products.ts, where each instruction is named. Do not edit.",
    "export const wasm =",
    `  "${Buffer.from(bytes).toString("base64")}"`,
    "",
  ].join("\n")
}

if (process.argv.includes("--write")) writeFileSync(file, source(assemble()))
