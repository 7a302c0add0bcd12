// Breaks minified code into lines. Node prints the source line of an uncaught error, which would be up to 56 KB long.
import type { Rolldown } from "tsdown"

type Node = { type: string; start: number; end: number; [field: string]: unknown }

/** A line ends at the first place after this many characters at which a break does not change the code. */
const width = 160
/** Fields of the syntax tree with lists of nodes. A line break after an item and its comma never changes what the code
 * means. */
const lists = [
  "body",
  "declarations",
  "expressions",
  "properties",
  "elements",
  "arguments",
  "cases",
  "consequent",
]

export const breakLines: Rolldown.Plugin = {
  name: "break-lines",
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === "chunk") file.code = withBreaks(file.code, this.parse(file.code) as unknown as Node)
  },
}

/** `tree` is the parsed `code`. */
export function withBreaks(code: string, tree: Node): string {
  const lines: string[] = []
  let begin = 0
  for (const place of placesIn(code, tree)) {
    if (place - begin < width) continue
    lines.push(code.slice(begin, place))
    begin = place
  }
  return [...lines, code.slice(begin)].join("\n")
}

function placesIn(code: string, tree: Node): number[] {
  const places: number[] = []
  const open: Node[] = [tree]
  for (let node = open.pop(); node; node = open.pop())
    for (const [field, value] of Object.entries(node)) {
      const items = (Array.isArray(value) ? value : [value]).filter(isNode)
      open.push(...items)
      // The "expressions" of a template are in the middle of its text.
      if (!Array.isArray(value) || !lists.includes(field) || node.type === "TemplateLiteral") continue
      for (const { end } of items) places.push(code[end] === "," ? end + 1 : end)
    }
  return places.sort((a, b) => a - b)
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string"
}
