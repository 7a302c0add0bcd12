// Finds markup and styles in the strings and template literals of a script. A region has the length of its source:
// expressions become holes, and markup inside expressions stays in its place, so that offsets are those of the file.

import { hole } from "./html.ts"
import { elements } from "./html-elements.ts"
import { isNode, type Node, nameOf } from "./node.ts"

export type Region = {
  kind: "markup" | "css"
  /** Starts at `at` of the file. */
  text: string
  at: number
  /** The function or constant that it belongs to. */
  component: string
  /** Parts that are inside an expression: a list item, one of two alternatives. */
  inner: [from: number, to: number][]
}

/** `inside`: the region that a node is in. `isJoined`: as a part of `a + b`. */
type Context = { component: string; inside?: Open; isJoined: boolean }
type Open = {
  kind: Region["kind"]
  start: number
  end: number
  component: string
  kept: [number, number][]
  inner: [number, number][]
}

export function createRegions(text: string, base: number) {
  const list: Region[] = []
  const open: Open[] = []
  const seen = new Set<unknown>()
  const top: Context = { component: "", isJoined: false }
  return { list, read, end }

  /** Returns the context of the node's children. Parents come before children. */
  function read(node: Node, given: object | undefined): Context {
    const context = named(node, (given as Context | undefined) ?? top)
    if (node.type === "BinaryExpression" && node.operator === "+" && !context.inside)
      return joined(node, context)
    const pieces = seen.has(node) ? undefined : piecesOf(node)
    // The literal of a tag is read with its tag.
    if (node.type === "TaggedTemplateExpression") seen.add(node.quasi)
    if (!pieces) return node.type === "BinaryExpression" ? context : { ...context, isJoined: false }
    const kind = kindOf(node, pieces)
    const isPart = context.inside && (context.isJoined || kind === context.inside.kind)
    if (context.inside && !isPart) return { ...context, isJoined: false }
    if (!context.inside && !kind) return context
    const inside = context.inside ?? start(kind!, node, context.component)
    for (const piece of pieces) inside.kept.push(piece)
    if (context.inside && !context.isJoined) inside.inner.push([node.start, node.end])
    return { ...context, inside, isJoined: false }
  }

  /** `"<ul>" + items + "</ul>"` is one region. */
  function joined(node: Node, context: Context): Context {
    let first: unknown = node
    while (isNode(first) && first.type === "BinaryExpression") first = first.left
    const pieces = isNode(first) ? piecesOf(first) : undefined
    const kind = pieces && kindOf(first as Node, pieces)
    return kind ? { ...context, inside: start(kind, node, context.component), isJoined: true } : context
  }

  function start(kind: Region["kind"], node: Node, component: string): Open {
    const made: Open = { kind, start: node.start, end: node.end, component, kept: [], inner: [] }
    open.push(made)
    return made
  }

  /** The pieces of a literal that are written out, without quotes and expressions. */
  function piecesOf(node: Node): [number, number][] | undefined {
    if (node.type === "StringLiteral") return [[node.start + 1, node.end - 1]]
    const template = node.type === "TaggedTemplateExpression" ? (node.quasi as Node) : node
    return template.type === "TemplateLiteral"
      ? (template.quasis as Node[]).map((piece) => [piece.start, piece.end])
      : undefined
  }

  function kindOf(node: Node, [[from, to] = [0, 0]]: [number, number][]): Region["kind"] | undefined {
    const tag = node.type === "TaggedTemplateExpression" ? nameOf(node.tag) : ""
    if (tag === "css") return "css"
    if (tag === "html" || tag === "svg") return "markup"
    const [, name] = /^\s*<(!doctype|!--|[a-z][\w-]*)/i.exec(text.slice(from, Math.min(to, from + 500))) ?? []
    if (name === undefined) return undefined
    return name.startsWith("!") || name.includes("-") || elements.has(name.toLowerCase())
      ? "markup"
      : undefined
  }

  /** The regions, when all nodes were read. */
  function end(): void {
    for (const { kind, start, end, component, kept, inner } of open) {
      const parts: string[] = []
      let at = start
      for (const [from, to] of kept.sort(([a], [b]) => a - b)) {
        if (from < at) continue
        // What comes before and after is a tag or a quote.
        parts.push((at === start ? " " : hole).repeat(from - at), text.slice(from, to))
        at = to
      }
      parts.push(" ".repeat(Math.max(0, end - at)))
      const places = inner.map(([from, to]): [number, number] => [base + from, base + to])
      list.push({ kind, text: parts.join(""), at: base + start, component, inner: places })
    }
  }
}

/** The name of the outermost function, class or constant. */
function named(node: Node, context: Context): Context {
  if (context.component || !/^(FunctionDeclaration|ClassDeclaration|VariableDeclarator)$/.test(node.type))
    return context
  return { ...context, component: nameOf(node.id) }
}
