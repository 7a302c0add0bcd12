// Reads a .tgz file as npm makes it. Only plain files and folders below `package/` are taken; a link, a device or a path
// that leads out refuses the whole archive.
import { gunzipSync } from "node:zlib"
import { addFile, Refused, type Tree } from "./tree.ts"

const block = 512
const maxUnpacked = 128 << 20

export function readTar(packed: Buffer): Tree {
  const bytes = unzip(packed)
  const tree: Tree = new Map()
  let longName: string | undefined
  for (let at = 0; at + block <= bytes.length; ) {
    const header = bytes.subarray(at, at + block)
    if (header.every((byte) => byte === 0)) break
    const size = numberIn(header, 124, 12)
    const type = String.fromCharCode(header[156]!)
    const content = bytes.subarray(at + block, at + block + size)
    if (content.length < size) throw new Refused("the archive is cut off")
    at += block + Math.ceil(size / block) * block
    const name = longName ?? nameIn(header)
    longName = undefined
    if (type === "x") longName = paxPath(content)
    else if (type === "L") longName = textIn(content, 0, content.length)
    else if (type === "0" || type === "\0")
      addFile(tree, withoutFirst(name), {
        bytes: Buffer.from(content),
        isExecutable: (numberIn(header, 100, 8) & 0o100) !== 0,
      })
    else if (type !== "5" && type !== "g") throw new Refused(`${name} is a link or a device in the archive`)
  }
  return tree
}

function unzip(packed: Buffer): Buffer {
  try {
    return gunzipSync(packed, { maxOutputLength: maxUnpacked })
  } catch (error) {
    throw new Refused(`the archive cannot be unpacked: ${(error as Error).message}`)
  }
}

/** npm packs into one folder, which most packages call `package`. */
function withoutFirst(name: string): string {
  const path = name.replace(/^\.\//, "")
  const slash = path.indexOf("/")
  if (slash < 0 || path.startsWith("/") || path.startsWith("../"))
    throw new Refused(`the path ${JSON.stringify(name.slice(0, 200))} is not allowed in a plugin`)
  return path.slice(slash + 1)
}

function nameIn(header: Buffer): string {
  const name = textIn(header, 0, 100)
  const prefix = textIn(header, 257, 6).startsWith("ustar") ? textIn(header, 345, 155) : ""
  return prefix ? `${prefix}/${name}` : name
}

function textIn(bytes: Buffer, from: number, length: number): string {
  const part = bytes.subarray(from, from + length)
  const end = part.indexOf(0)
  return part.subarray(0, end < 0 ? part.length : end).toString("utf8")
}

function numberIn(header: Buffer, from: number, length: number): number {
  const text = textIn(header, from, length).trim()
  const value = Number.parseInt(text || "0", 8)
  if (!/^[0-7]*$/.test(text) || !Number.isSafeInteger(value)) throw new Refused("the archive is damaged")
  return value
}

/** The records of an extended header are `LENGTH key=value\n`. */
function paxPath(content: Buffer): string | undefined {
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(content.toString("utf8"))?.[1]
}
