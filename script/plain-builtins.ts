// Replaces imports of Node's own modules by `process.getBuiltinModule`. An import reads every export, which loads code
// that Node would otherwise load on demand: workers for "node:util", Web Crypto for "node:crypto", undici for "node:http". Slow modules are
// loaded when one of their functions is first called.
import type { Rolldown } from "tsdown"

type Node = { type: string; start: number; end: number; [field: string]: unknown }
type Name = { name: string } | { value: string }
type Specifier = { type: string; imported: Name; local: { name: string } }
type Import = Node & { source: { value: string }; specifiers: Specifier[] }

/** Slow modules, which most starts do not need before the first request. Only functions may be imported from them. */
const slow = new Set(["node:crypto", "node:fs/promises"])

/** The entry file stays unchanged: it must load in an old Node, to say which version is needed. */
export function createPlainBuiltins(entry: string): Rolldown.Plugin {
  return {
    name: "plain-builtins",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle))
        if (file.type === "chunk" && file.fileName !== entry)
          file.code = withPlainBuiltins(file.code, this.parse(file.code) as unknown as Node)
    },
  }
}

/** `tree` is the parsed `code`. */
export function withPlainBuiltins(code: string, tree: Node): string {
  const imports = (tree.body as Node[]).filter(isOfNode)
  return imports.reduceRight(
    (all, one) => `${all.slice(0, one.start)}${taken(one)}${all.slice(one.end)}`,
    code,
  )
}

function isOfNode(node: Node): node is Import {
  if (node.type !== "ImportDeclaration") return false
  const { source, specifiers } = node as Import
  return (
    source.value.startsWith("node:") &&
    // The bundler's own helper calls it at once.
    source.value !== "node:module" &&
    specifiers.length > 0 &&
    (isWhole(specifiers) ||
      specifiers.every(({ type, imported }) => type === "ImportSpecifier" && nameOf(imported) !== "default"))
  )
}

/** `import * as name`. */
function isWhole([first]: Specifier[]): boolean {
  return first?.type === "ImportNamespaceSpecifier"
}

function taken({ source, specifiers }: Import): string {
  const module = JSON.stringify(source.value)
  if (slow.has(source.value) && !isWhole(specifiers))
    return specifiers
      .map(({ imported, local: { name } }) => {
        const taken = `(${name}.f??=process.getBuiltinModule(${module}).${nameOf(imported)})`
        return `function ${name}(...a){return ${taken}(...a)}`
      })
      .join("")
  const value = `process.getBuiltinModule?.(${module})??{};`
  if (isWhole(specifiers)) return `const ${specifiers[0]!.local.name}=${value}`
  const names = specifiers.map(({ imported, local }) => `${nameOf(imported)}:${local.name}`)
  return `const{${names.join(",")}}=${value}`
}

function nameOf(name: Name): string {
  return "name" in name ? name.name : name.value
}
