// The screen of a terminal as SVG, with its colours.
import type xterm from "@xterm/headless"

type Cell = { text: string; width: number; style: string }

const [wide, high, margin, size] = [8.4, 18, 12, 14]
const [ground, ink] = ["#16181d", "#d7dae0"]
/** The 16 colours of the palette. */
const palette =
  "#1f2228 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #d7dae0 #5c6370 #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #ffffff".split(
    " ",
  )

export function toSvg({ buffer, cols }: xterm.Terminal): string {
  const { active } = buffer
  const rows = Array.from({ length: active.length - active.baseY }, (_, row) =>
    cellsOf(active, active.baseY + row, cols),
  )
  while (rows.length && rows.at(-1)!.every(({ text }) => text.trim() === "")) rows.pop()
  const [width, height] = [2 * margin + cols * wide, 2 * margin + rows.length * high]
  const caret = `<rect x="${at(active.cursorX)}" y="${margin + active.cursorY * high + 2}" width="${wide}" height="${high - 3}" fill="${ink}" opacity="0.5"/>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="${size}">
<rect width="100%" height="100%" rx="8" fill="${ground}"/>
${rows.map(lineOf).filter(Boolean).join("\n")}
${caret}
</svg>
`
}

function cellsOf(active: xterm.IBuffer, row: number, columns: number): Cell[] {
  const line = active.getLine(row)
  return Array.from({ length: columns }, (_, column) => {
    const cell = line?.getCell(column)
    return { text: cell?.getChars() || " ", width: cell?.getWidth() ?? 1, style: cell ? styleOf(cell) : "" }
  })
}

/** Neighbours of the same look are one piece of text. */
function lineOf(cells: Cell[], row: number): string {
  const pieces: string[] = []
  for (let start = 0; start < cells.length; ) {
    let end = start
    while (end < cells.length && cells[end]!.style === cells[start]!.style) end++
    const text = cells
      .slice(start, end)
      .filter(({ width }) => width > 0)
      .map((cell) => cell.text)
      .join("")
    if (text.trim()) {
      const shift = text.length - text.trimStart().length
      pieces.push(
        `<text x="${at(start + shift)}" y="${margin + row * high + size}" ${cells[start]!.style}xml:space="preserve">${escaped(text.trim())}</text>`,
      )
    }
    start = end
  }
  return pieces.join("")
}

function styleOf(cell: xterm.IBufferCell): string {
  return [
    `fill="${colorOf(cell)}" `,
    cell.isBold() ? 'font-weight="bold" ' : "",
    cell.isItalic() ? 'font-style="italic" ' : "",
    cell.isDim() ? 'opacity="0.65" ' : "",
    cell.isUnderline() || cell.isInverse() ? 'text-decoration="underline" ' : "",
  ].join("")
}

function colorOf(cell: xterm.IBufferCell): string {
  if (cell.isFgRGB()) return `#${cell.getFgColor().toString(16).padStart(6, "0")}`
  return (cell.isFgPalette() ? palette[cell.getFgColor()] : undefined) ?? ink
}

function at(column: number): string {
  return (margin + column * wide).toFixed(1)
}

function escaped(text: string): string {
  return text.replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`)
}
