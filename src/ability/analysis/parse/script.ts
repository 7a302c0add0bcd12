// Reads TypeScript and JavaScript: imports and exports, the markup in strings and template literals, and what the code does
// to a page. @babel/parser parses; a file with errors is read as far as it can be parsed.
import { parse } from "@babel/parser"
import type { Report } from "#ability/analysis/term/finding.ts"
import { errorText } from "#util/error.ts"
import { childrenOf, isNode, type Node, nameOf, stringOf } from "./node.ts"
import { createPageFacts, type PageFacts } from "./page-facts.ts"
import { createRegions, type Region } from "./regions.ts"

export type Import = {
  source: string
  at: number
  /** `imported` is the name in the other file; `*` for all of it. */
  names: { local: string; imported: string; at: number }[]
  /** Only types: nothing is loaded. */
  isType: boolean
}
export type Script = {
  imports: Import[]
  exports: Set<string>
  /** It exports everything of another file, too. */
  exportsMore: boolean
  used: Set<string>
  regions: Region[]
  facts: PageFacts
}

/** `base`: the offset of the text in its file. */
export function parseScript(text: string, { base = 0, isJsx = false }, report: Report): Script {
  const regions = createRegions(text, base)
  const facts = createPageFacts()
  const script: Script = {
    imports: [],
    exports: new Set(),
    exportsMore: false,
    used: new Set(),
    regions: regions.list,
    facts: facts.facts,
  }
  const program = parseProgram(text, base, isJsx, report)
  const waiting: { node: Node; context: object | undefined }[] = program
    ? [{ node: program, context: undefined }]
    : []
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node } = next
    readModule(script, node, base)
    readUse(script, node)
    facts.read(node)
    const context = regions.read(node, next.context)
    if (node.type === "ImportDeclaration") continue
    for (const child of childrenOf(node).reverse()) waiting.push({ node: child, context })
  }
  regions.end()
  return script
}

function parseProgram(text: string, base: number, isJsx: boolean, report: Report): Node | undefined {
  try {
    const { program, errors } = parse(text, {
      sourceType: "module",
      errorRecovery: true,
      allowReturnOutsideFunction: true,
      plugins: ["typescript", ...(isJsx ? ["jsx" as const] : [])],
    })
    for (const error of errors ?? []) reportSyntax(error)
    return program as Node
  } catch (error) {
    reportSyntax(error)
    return undefined
  }

  function reportSyntax(error: unknown): void {
    const { pos } = error as { pos?: unknown }
    const isDeep = error instanceof RangeError
    const message = isDeep ? "It is nested too deeply." : errorText(error).replace(/\.? \(\d+:\d+\)$/, ".")
    report(
      "script/syntax",
      base + (typeof pos === "number" ? pos : 0),
      `The code cannot be parsed: ${message}`,
    )
  }
}

function readModule(script: Script, node: Node, base: number): void {
  const source = stringOf(node.source)
  const at = base + (isNode(node.source) ? node.source.start : node.start)
  if (node.type === "ImportDeclaration" && source !== undefined) {
    const names = (node.specifiers as Node[]).map((one) => ({
      local: nameOf(one.local),
      imported:
        one.type === "ImportSpecifier"
          ? nameOf(one.imported)
          : one.type === "ImportDefaultSpecifier"
            ? "default"
            : "*",
      at: base + one.start,
    }))
    const isType = isTypeOnly(node, node.specifiers as Node[], "importKind")
    script.imports.push({ source, at, names, isType })
  }
  if (node.type === "ImportExpression" && source !== undefined)
    script.imports.push({ source, at, names: [], isType: false })
  if (node.type === "ExportAllDeclaration" || node.type === "TSExportAssignment") script.exportsMore = true
  if (node.type === "ExportDefaultDeclaration") script.exports.add("default")
  if (node.type === "ExportAllDeclaration" && source !== undefined)
    script.imports.push({ source, at, names: [], isType: false })
  if (node.type !== "ExportNamedDeclaration") return
  const specifiers = (node.specifiers as Node[] | undefined) ?? []
  for (const one of specifiers) script.exports.add(nameOf(one.exported))
  if (source !== undefined) {
    const names = specifiers.map((one) => ({ local: "", imported: nameOf(one.local), at: base + one.start }))
    script.imports.push({ source, at, names, isType: isTypeOnly(node, specifiers, "exportKind") })
  }
  if (isNode(node.declaration)) for (const name of declaredIn(node.declaration)) script.exports.add(name)
}

function isTypeOnly(node: Node, specifiers: Node[], key: "importKind" | "exportKind"): boolean {
  return node[key] === "type" || (specifiers.length > 0 && specifiers.every((one) => one[key] === "type"))
}

function readUse(script: Script, node: Node): void {
  if (node.type === "Identifier" || node.type === "JSXIdentifier") script.used.add(node.name as string)
  // The names of members and keys are no uses, unless they are computed.
  if (!node.computed && (node.type === "MemberExpression" || node.type === "OptionalMemberExpression"))
    hide(node, "property")
  if (!node.computed && /^(Object|Class)(Property|Method)$/.test(node.type) && !node.shorthand)
    hide(node, "key")
}

/** A child that is not visited, but can still be read. */
function hide(node: Node, key: string): void {
  Object.defineProperty(node, key, { value: node[key], enumerable: false })
}

function declaredIn(declaration: Node): string[] {
  if (declaration.type !== "VariableDeclaration") return [nameOf(declaration.id)]
  return (declaration.declarations as Node[]).flatMap(({ id }) => namesIn(id))
}

/** The names that a pattern binds. */
function namesIn(pattern: unknown): string[] {
  const found: string[] = []
  const waiting = isNode(pattern) ? [pattern] : []
  for (let next = waiting.pop(); next; next = waiting.pop())
    if (next.type === "Identifier") found.push(next.name as string)
    else for (const child of childrenOf(next)) waiting.push(child)
  return found
}
