// Reads the header of a GGUF file before a native library does, and checks it against the size of the file.
import { closeSync, constants, fstatSync, openSync } from "node:fs"
import { totalmem } from "node:os"
import { errorCode, errorText, NamedError } from "#util/error.ts"
import { createGgufReader, type GgufReader } from "./gguf-reader.ts"

export class GgufInvalid extends NamedError {
  constructor(path: string, reason: string) {
    super("Gguf.Invalid", `${JSON.stringify(path)} cannot be used as a GGUF model: ${reason}.`, {
      path,
      reason,
    })
  }
}

export class GgufTooLarge extends NamedError {
  constructor(options: { path: string; bytes: number; memory: number }) {
    const { path, bytes, memory } = options
    super(
      "Gguf.TooLarge",
      `${JSON.stringify(path)} is too large for this machine: its weights take ${inGigabytes(bytes)}, and there are ${inGigabytes(memory)} of memory.`,
      options,
    )
  }
}

export type GgufHeader = {
  /** Of the whole file, and of its weights, in bytes. */
  size: number
  weights: number
  /** Milliseconds. */
  modified: number
  architecture: string
  name?: string
  /** The longest context that it was made for. */
  context?: number
  /** Length of its vectors. */
  embedding?: number
  chatTemplate?: string
}

const maxEntries = 100_000
const maxTensors = 1_000_000
const maxTemplate = 1_000_000
const types = { u32: 4, string: 8, list: 9, u64: 10 }
/** Bytes of a value, by its type; strings and lists have lengths of their own. */
const widths: Record<number, number> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 }
/** How many weights one block holds, and its bytes, by the type of a tensor. */
const blocks: Record<number, [weights: number, bytes: number]> = {
  ...{ 0: [1, 4], 1: [1, 2], 2: [32, 18], 3: [32, 20], 6: [32, 22], 7: [32, 24], 8: [32, 34], 9: [32, 36] },
  ...{ 10: [256, 84], 11: [256, 110], 12: [256, 144], 13: [256, 176], 14: [256, 210], 15: [256, 292] },
  ...{ 24: [1, 1], 25: [1, 2], 26: [1, 4], 27: [1, 8], 28: [1, 8], 30: [1, 2] },
}

/** Throws `GgufInvalid`, and `GgufTooLarge` if the weights do not fit into memory. */
export function readGgufHeader(path: string, memory = memoryOf()): GgufHeader {
  const fd = open(path)
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw new GgufInvalid(path, "it is not a plain file")
    const reader = createGgufReader({
      fd,
      size: stat.size,
      refuse: (reason) => new GgufInvalid(path, reason),
    })
    const header = read(reader)
    if (header.weights > memory) throw new GgufTooLarge({ path, bytes: header.weights, memory })
    return { size: stat.size, modified: stat.mtimeMs, ...header }
  } finally {
    closeSync(fd)
  }
}

function open(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    throw new GgufInvalid(path, errorCode(error) === "ENOENT" ? "there is no such file" : errorText(error))
  }
}

function read(reader: GgufReader): Omit<GgufHeader, "size" | "modified"> {
  if (reader.size < 4 || reader.text(4) !== "GGUF") throw reader.refuse('it does not begin with "GGUF"')
  const version = reader.u32()
  if (version !== 2 && version !== 3) throw reader.refuse(`its version ${version} is not 2 or 3`)
  const tensors = reader.count(maxTensors, "tensors")
  const entries = reader.count(maxEntries, "entries")
  const wanted = readEntries(reader, entries)
  const { "general.architecture": architecture, "general.name": name } = wanted
  if (typeof architecture !== "string" || !architecture) throw reader.refuse("it names no architecture")
  const alignment = wanted["general.alignment"] ?? 32
  if (typeof alignment !== "number" || alignment < 1) throw reader.refuse("its alignment is not a number")
  const end = readTensors(reader, tensors)
  const begin = Math.ceil(reader.at() / alignment) * alignment
  if (begin + end > reader.size)
    throw reader.refuse(
      `it breaks off: its header promises ${begin + end} bytes, and the file has ${reader.size}`,
    )
  const context = wanted[`${architecture}.context_length`]
  const embedding = wanted[`${architecture}.embedding_length`]
  const chatTemplate = wanted["tokenizer.chat_template"]
  return {
    weights: end,
    architecture,
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof context === "number" && context > 0 ? { context } : {}),
    ...(typeof embedding === "number" ? { embedding } : {}),
    ...(typeof chatTemplate === "string" ? { chatTemplate } : {}),
  }
}

/** Reads texts and integers; other types and very long texts are skipped. */
function readEntries(reader: GgufReader, entries: number): Record<string, string | number> {
  const wanted: Record<string, string | number> = {}
  for (let i = 0; i < entries; i++) {
    const key = reader.string()
    const type = reader.u32()
    if (type === types.u32) wanted[key] = reader.u32()
    else if (type === types.u64) wanted[key] = reader.u64()
    else if (type === types.string) {
      const length = reader.u64()
      if (length <= maxTemplate) wanted[key] = reader.text(length)
      else reader.skip(length)
    } else skipValue(reader, type)
  }
  return wanted
}

function skipValue(reader: GgufReader, type: number, depth = 0): void {
  const width = widths[type]
  if (type !== types.list) {
    if (width === undefined && type !== types.string)
      throw reader.refuse(`it has a value of the unknown type ${type}`)
    reader.skip(width ?? reader.u64())
    return
  }
  if (depth > 3) throw reader.refuse("it has lists within lists")
  const of = reader.u32()
  const length = reader.u64()
  const each = widths[of]
  if (each !== undefined) reader.skip(length * each)
  // Each element takes bytes, so a wrong length ends at the end of the file.
  else for (let i = 0; i < length; i++) skipValue(reader, of, depth + 1)
}

/** The size of the weights in bytes. */
function readTensors(reader: GgufReader, tensors: number): number {
  let end = 0
  for (let i = 0; i < tensors; i++) {
    reader.skip(reader.u64())
    const dimensions = reader.u32()
    if (dimensions > 8) throw reader.refuse(`a tensor has ${dimensions} dimensions`)
    let weights = 1
    for (let n = 0; n < dimensions; n++) weights *= reader.u64()
    const [perBlock, bytes] = blocks[reader.u32()] ?? [1, 0]
    end = Math.max(end, reader.u64() + Math.ceil(weights / perBlock) * bytes)
  }
  return end
}

/** The memory that this process may use; in a container less than the machine has. */
function memoryOf(): number {
  const allowed = process.constrainedMemory()
  return allowed > 0 ? Math.min(allowed, totalmem()) : totalmem()
}

function inGigabytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GB`
}
