// An image in the terminal, as one finished line that takes several rows: by the graphics protocol of kitty, which takes PNG,
// or by that of iTerm2. The rows are made first, so that the image scrolls nothing, and the cursor ends below it.
import type { Line, View } from "./line.ts"

export type Graphics = "kitty" | "iterm"
export type Picture = Readonly<{ mimeType: string; width: number; height: number; data: string }>

const maxRows = 12
/** Rows of the screen that an image leaves free. */
const otherRows = 6
const leastRows = 2
/** Pixels of a cell, about. */
const cell = { width: 10, height: 20 }
/** Characters of base64 that kitty takes in one sequence. */
const maxChunk = 4_096

/** Undefined if the terminal cannot show it. */
export function pictureLine(picture: Picture, { columns, rows, graphics }: View): Line | undefined {
  const { mimeType, width, height, data } = picture
  const room = Math.min(maxRows, rows - otherRows)
  const isSafe = /^[A-Za-z0-9+/]+={0,2}$/.test(data) && width > 0 && height > 0
  if (!graphics || !isSafe || room < leastRows) return undefined
  if (!takes(graphics, mimeType)) return undefined
  const scale = Math.min(1, (room * cell.height) / height, (columns * cell.width) / width)
  const size = {
    columns: Math.max(1, Math.min(columns, Math.round((width * scale) / cell.width))),
    rows: Math.max(1, Math.min(room, Math.ceil((height * scale) / cell.height))),
  }
  const image = graphics === "kitty" ? kitty(data, size) : iterm(data, size)
  const [down, up] = ["\r\n".repeat(size.rows - 1), size.rows > 1 ? `\u001b[${size.rows - 1}A` : ""]
  return `${down}${up}\u001b7${image}\u001b8${up.replace("A", "B")}`
}

/** Kitty takes PNG only. */
export function takes(graphics: Graphics | undefined, mimeType: string): boolean {
  return graphics !== "kitty" || mimeType === "image/png"
}

type Size = { columns: number; rows: number }

/** `C=1`: the cursor stays. `q=2`: the terminal does not answer. */
function kitty(data: string, { columns, rows }: Size): string {
  let out = ""
  for (let at = 0; at < data.length; at += maxChunk) {
    const more = at + maxChunk < data.length ? 1 : 0
    const keys = at ? `m=${more}` : `a=T,f=100,q=2,C=1,c=${columns},r=${rows},m=${more}`
    out += `\u001b_G${keys};${data.slice(at, at + maxChunk)}\u001b\\`
  }
  return out
}

function iterm(data: string, { columns, rows }: Size): string {
  const size = `width=${columns};height=${rows};preserveAspectRatio=1`
  return `\u001b]1337;File=inline=1;${size}:${data}\u0007`
}
