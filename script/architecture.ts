// The order of the house: every file belongs to a layer, imports point down, there is no cycle, aliases match file
// names, packages have owners, and ARCHITECTURE.md shows the graph that is drawn here.
//   node script/architecture.ts            check
//   node script/architecture.ts --write    draw the graph into ARCHITECTURE.md
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join, posix } from "node:path"

/** Bottom to top. A module may import itself and anything earlier. */
const layers = [
  ..."util kernel knowledge/message knowledge/llama knowledge/embedder knowledge/index knowledge/skill knowledge/rules knowledge/relation knowledge/cache knowledge/memory knowledge/grounding".split(
    " ",
  ),
  ..."ability/provider ability/permission ability/snapshot ability/skill ability/agent ability/tool ability/image ability/mcp".split(
    " ",
  ),
  ..."engine/symbolic engine/record engine/queue engine/rights engine/ask engine/run engine/context engine/offer engine/compaction engine/attach engine/turn engine/session engine/orchestrator engine/host".split(
    " ",
  ),
  ..."edge/world edge/sandbox edge/a2a edge/acp edge/server edge/mcp edge/cli index.ts".split(" "),
]

/** Packages, and the only places that may import them. */
const owners: Record<string, string[]> = {
  hono: ["edge/server"],
  "@hono/node-server": ["edge/server"],
  yargs: ["edge/cli"],
  "jsonc-parser": ["util/parse/jsonc.ts"],
  yaml: ["util/parse/yaml.ts"],
  unbash: ["ability/permission/shell"],
  linkedom: ["ability/tool/web"],
  "@mozilla/readability": ["ability/tool/web"],
  turndown: ["ability/tool/web"],
  tinyld: ["ability/image/language.ts"],
  "@ai-sdk/provider": ["ability/provider", "engine", "knowledge/message"],
  "@ai-sdk/anthropic": ["ability/provider"],
  "@ai-sdk/openai": ["ability/provider"],
  "@ai-sdk/google": ["ability/provider"],
  "@agentclientprotocol/sdk": ["edge/acp"],
  "@modelcontextprotocol/client": ["ability/mcp"],
  "@modelcontextprotocol/server": ["edge/mcp"],
  "@vscode/ripgrep": ["knowledge/grounding/ripgrep.ts"],
  ripgrep: ["knowledge/grounding/ripgrep.ts"],
  zod: ["util", "kernel", "knowledge", "ability", "engine", "edge", "index.ts"],
}

type Import = { specifier: string; typeOnly: boolean; alias?: string }
type Edge = { from: string; to: string; typeOnly: boolean }

const root = new URL("..", import.meta.url).pathname
const begin = "<!-- graph: drawn by script/architecture.ts -->"
const end = "<!-- end of graph -->"

/** Every rule that the tree below `src/` breaks, one line each. */
export function check(folder = root): string[] {
  const source = read(folder)
  const edges = source.flatMap(({ file, imports }) => imports.flatMap((item) => edgeOf(file, item)))
  return [
    ...source.flatMap(({ file }) => (layerOf(file) < 0 ? [`${file} belongs to no layer`] : [])),
    ...edges.flatMap(upward),
    ...cycles(edges),
    ...source.flatMap(({ file, imports }) =>
      imports.flatMap((item) => [...misnamed(file, item), ...foreign(file, item)]),
    ),
  ]
}

/** The graph of folders that import each other, as Mermaid. */
export function draw(folder = root): string {
  const edges = read(folder).flatMap(({ file, imports }) => imports.flatMap((item) => edgeOf(file, item)))
  const lines = edges
    .filter(({ typeOnly }) => !typeOnly)
    .map(({ from, to }) => [layers[layerOf(from)]!, layers[layerOf(to)]!] as const)
    .filter(([from, to]) => from !== to)
    .map(([from, to]) => `  ${node(from)} --> ${node(to)}`)
  return ["```mermaid", "graph TD", ...[...new Set(lines)].sort(), "```"].join("\n")
}

/** ARCHITECTURE.md with the graph as it is now. */
export function withGraph(text: string, folder = root): string {
  const [before, after] = [text.split(begin)[0], text.split(end)[1]]
  return `${before}${begin}\n${draw(folder)}\n${end}${after}`
}

function node(layer: string): string {
  return `${layer.replaceAll(/[/.]/g, "_")}["${layer}"]`
}

function read(folder: string): { file: string; imports: Import[] }[] {
  const files = globSync("**/*.ts", { cwd: join(folder, "src") }).sort()
  return files.map((file) => ({ file, imports: importsOf(readFileSync(join(folder, "src", file), "utf8")) }))
}

function importsOf(text: string): Import[] {
  const clause = String.raw`(type\s+)?([\w\s{},*$]+?)\s+from\s+`
  const statics = text.matchAll(
    new RegExp(`^(?:import\\s+(?:${clause})?|export\\s+${clause})"([^"]+)"`, "gm"),
  )
  const dynamics = text.matchAll(/\bimport\(\s*"([^"]+)"\s*\)/g)
  return [
    ...[...statics].map(([, type, what, reexportType, reexport, specifier]) => {
      const names = what ?? reexport ?? ""
      const alias = /\*\s+as\s+(\w+)/.exec(names)?.[1]
      const typeOnly = Boolean(type ?? reexportType) || /^\{(\s*type\s+[\w\s]+,?)+\s*\}$/.test(names)
      return { specifier: specifier!, typeOnly, ...(alias ? { alias } : {}) }
    }),
    ...[...dynamics].map(([, specifier]) => ({ specifier: specifier!, typeOnly: false })),
  ]
}

function edgeOf(from: string, { specifier, typeOnly }: Import): Edge[] {
  if (specifier.startsWith("#")) return [{ from, to: specifier.slice(1), typeOnly }]
  if (specifier.startsWith(".")) return [{ from, to: posix.join(posix.dirname(from), specifier), typeOnly }]
  return []
}

function layerOf(file: string): number {
  return layers.findIndex((layer) => file === layer || file.startsWith(`${layer}/`))
}

function upward({ from, to, typeOnly }: Edge): string[] {
  return typeOnly || layerOf(to) <= layerOf(from) ? [] : [`${from} imports ${to}, which is above it`]
}

function cycles(edges: Edge[]): string[] {
  const next = Map.groupBy(
    edges.filter((edge) => !edge.typeOnly),
    (edge) => edge.from,
  )
  const done = new Set<string>()
  const found: string[] = []
  const visit = (file: string, path: string[]) => {
    if (path.includes(file))
      return void found.push(`cycle: ${[...path.slice(path.indexOf(file)), file].join(" → ")}`)
    if (done.has(file)) return
    for (const { to } of next.get(file) ?? []) visit(to, [...path, file])
    done.add(file)
  }
  for (const file of next.keys()) visit(file, [])
  return found
}

/** `import * as Session` comes from `session.ts`. */
function misnamed(file: string, { specifier, alias }: Import): string[] {
  if (!alias || !/^[#.]/.test(specifier)) return []
  const expected = basename(specifier, ".ts").replace(/(^|-)(\w)/g, (_, __, letter: string) =>
    letter.toUpperCase(),
  )
  return alias === expected ? [] : [`${file} calls ${specifier} "${alias}", expected "${expected}"`]
}

function foreign(file: string, { specifier }: Import): string[] {
  if (/^(#|\.|node:)/.test(specifier))
    return specifier.startsWith("../..") ? [`${file} climbs: ${specifier}`] : []
  const name = specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")
  const allowed = owners[name]
  if (!allowed) return [`${file} imports ${name}, which has no owner in script/architecture.ts`]
  const own = allowed.some((place) => file === place || file.startsWith(`${place}/`))
  return own ? [] : [`${file} imports ${name}, which belongs to ${allowed.join(", ")}`]
}

if (import.meta.main) {
  const document = join(dirname(import.meta.dirname), "ARCHITECTURE.md")
  if (process.argv.includes("--write")) writeFileSync(document, withGraph(readFileSync(document, "utf8")))
  const problems = check()
  for (const problem of problems) console.error(problem)
  console.log(`architecture: ${problems.length} problems`)
  process.exitCode = problems.length ? 1 : 0
}
