// What a program printed: colours as classes, everything else that a terminal would obey is dropped. No link, title or
// picture of a control sequence reaches the page.
import { useMemo } from "preact/hooks"
import { html } from "#edge/web/base/html.ts"

type Style = {
  fg?: number
  bg?: number
  bold?: true
  dim?: true
  italic?: true
  underline?: true
  inverse?: true
}
type Span = { text: string; classes: string }

// CSI with its parameters and final byte; strings (OSC, DCS, SOS, PM, APC) up to their end, or the rest of the text; other
// escapes of two characters; and the same with 8-bit controls.
const sequence =
  /(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~]?)|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|(?=\x1b)|$)|\x1b[ -/]*[0-~]?/g
const maxSpans = 5_000

export function TerminalText({ text, className = "output" }: { text: string; className?: string }) {
  const spans = useMemo(() => spansOf(text), [text])
  return html`<pre class=${className} tabindex="0">${spans.map(({ text, classes }) => (classes ? html`<span class=${classes}>${text}</span>` : text))}</pre>`
}

function spansOf(text: string): Span[] {
  const spans: Span[] = []
  let style: Style = {}
  let at = 0
  const add = (part: string) => {
    const shown = overwritten(part)
    const classes = classesOf(style)
    const last = spans.at(-1)
    if (!shown) return
    if (last && (last.classes === classes || spans.length >= maxSpans)) last.text += shown
    else spans.push({ text: shown, classes })
  }
  for (const match of text.matchAll(sequence)) {
    add(text.slice(at, match.index))
    at = match.index + match[0].length
    if (match[2] === "m") style = apply(style, match[1]!)
  }
  add(text.slice(at))
  return spans
}

/** Of a line that a program has written several times, the last version. */
function overwritten(text: string): string {
  if (!text.includes("\r") && !text.includes("\b")) return text
  return text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.slice(line.replace(/\r$/, "").lastIndexOf("\r") + 1).replace(/[\r\b]/g, ""))
    .join("\n")
}

function apply(style: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(Number)
  const next = { ...style }
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i]!
    if (code === 0) for (const key of Object.keys(next)) delete next[key as keyof Style]
    else if (code === 1) next.bold = true
    else if (code === 2) next.dim = true
    else if (code === 3) next.italic = true
    else if (code === 4) next.underline = true
    else if (code === 7) next.inverse = true
    else if (code === 22) {
      delete next.bold
      delete next.dim
    } else if (code === 23) delete next.italic
    else if (code === 24) delete next.underline
    else if (code === 27) delete next.inverse
    else if (code >= 30 && code <= 37) next.fg = code - 30
    else if (code >= 40 && code <= 47) next.bg = code - 40
    else if (code >= 90 && code <= 97) next.fg = code - 82
    else if (code >= 100 && code <= 107) next.bg = code - 92
    else if (code === 39) delete next.fg
    else if (code === 49) delete next.bg
    else if (code === 38 || code === 48) {
      const [colour, used] = extended(codes.slice(i + 1))
      if (colour !== undefined) next[code === 38 ? "fg" : "bg"] = colour
      i += used
    }
  }
  return next
}

/** One of the 16 colours for one of 256, or of red, green and blue. */
function extended([kind, first = 0, green = 0, blue = 0]: number[]): [
  colour: number | undefined,
  used: number,
] {
  if (kind === 2) return [nearest(first, green, blue), 4]
  if (kind !== 5) return [undefined, 0]
  if (first < 16) return [first, 2]
  if (first >= 232) return [first < 244 ? 8 : 7, 2]
  const cube = first - 16
  const level = (value: number) => (value % 6) * 51
  return [nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6)), level(cube)), 2]
}

function nearest(red: number, green: number, blue: number): number {
  const brightest = Math.max(red, green, blue)
  if (brightest < 60) return 0
  const bit = (value: number) => (value > brightest / 2 ? 1 : 0)
  return bit(red) + bit(green) * 2 + bit(blue) * 4 + (brightest > 200 ? 8 : 0)
}

function classesOf({ fg, bg, ...marks }: Style): string {
  return [
    ...Object.keys(marks).map((key) => `t-${key}`),
    fg === undefined ? "" : `fg-${fg}`,
    bg === undefined ? "" : `bg-${bg}`,
  ]
    .filter(Boolean)
    .join(" ")
}
