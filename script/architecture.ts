// Checks the structure: every file belongs to a layer, imports (also of types) point down and to entry files, there is no
// cycle, aliases match file names, packages have owners, and ARCHITECTURE.md shows the graph that is drawn here.
//   node script/architecture.ts            check
//   node script/architecture.ts --write    draw the graph into ARCHITECTURE.md
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join, posix } from "node:path"

/** Bottom to top: an area, then the folders in it. A module may import itself and anything earlier, types too. */
const layers = [
  "client",
  "util",
  "util/parse",
  "util/file",
  "kernel/behavioral",
  ...area("kernel", "secret process database worker storage objects"),
  ..."kernel/login kernel/bus kernel/schema kernel/reviewed kernel/plugin kernel/config kernel/trust".split(
    " ",
  ),
  "knowledge/message",
  "knowledge/llama",
  "knowledge/embedder",
  "knowledge/index",
  "knowledge/skill",
  "knowledge/rules",
  "knowledge/relation",
  "knowledge/cache",
  "knowledge/memory",
  "knowledge/grounding",
  "knowledge/documents",
  ...area("ability/provider", "reach functiongemma catalog request chat rules/words rules/skill rules"),
  ...area("ability/permission", "shell"),
  ...area("ability/snapshot", "store scan restore"),
  "ability/checkout",
  "ability/plugin",
  "ability/skill",
  ...area("ability/agent", "cue spec"),
  "ability/command",
  ...area("ability/call", "judge"),
  "ability/file",
  "ability/web",
  "ability/sandbox",
  "ability/shell",
  "ability/format",
  ...area("ability/lsp", "wire server"),
  "ability/browser",
  ...area("ability/analysis", "term parse rule structure"),
  "ability/tiers",
  ...area("ability/world", "server"),
  "ability/plan",
  "ability/documents",
  "ability/memory",
  "ability/elicitation",
  "ability/vault",
  ...area("ability/tool", "builtin"),
  "ability/script",
  "ability/image",
  ...area("ability/mcp", "server transport login client registry"),
  "ability/a2a",
  "ability/hook",
  "engine/symbolic",
  "engine/explore",
  "engine/record",
  "engine/queue",
  "engine/rights",
  "engine/model",
  "engine/run",
  "engine/orchestrator",
  "engine/context",
  "engine/offer",
  "engine/compaction",
  "engine/attach",
  "engine/hook",
  "engine/turn",
  "engine/session",
  "engine/schedule",
  "engine/telemetry",
  "engine/host",
  "edge/world",
  ...area("edge/sandbox", "wire guest host"),
  ...area("edge/acp", "wire show update session draft"),
  ...area("edge/server", "http event people web routes"),
  "edge/cluster",
  "edge/a2a",
  "edge/adapter",
  "edge/mcp",
  ...area("edge/web", "base store part session panel folder view"),
  ...area("edge/tui", "screen input editor markdown transcript question command conversation status plain"),
  ...area(
    "edge/cli",
    "process option terminal session run a2a mcp models skill script guard hook world command plugin doctor people project schedule",
  ),
  "index.ts",
]

/** Packages, and the only places that may import them. */
const owners: Record<string, string[]> = {
  hono: ["edge/server"],
  "@hono/node-server": ["edge/server"],
  ws: ["edge/server"],
  yargs: ["edge/cli"],
  pg: ["kernel/database/connection.ts"],
  "@dbos-inc/dbos-sdk": ["edge/cluster/job-queue.ts", "edge/cluster/schedule-rows.ts"],
  "jsonc-parser": ["util/parse/jsonc.ts"],
  yaml: ["util/parse/yaml.ts"],
  "get-east-asian-width": ["edge/tui/screen"],
  "@codemirror/legacy-modes": ["edge/tui/markdown"],
  "@codemirror/streamparser": ["edge/tui/markdown"],
  ajv: ["engine/run/output-schema.ts"],
  unbash: ["ability/permission/shell"],
  linkedom: ["ability/web"],
  htmlparser2: ["ability/analysis/parse"],
  "@babel/parser": ["ability/analysis/parse"],
  "@mozilla/readability": ["ability/web"],
  turndown: ["ability/web"],
  "playwright-core": ["ability/browser", "ability/world"],
  unpdf: ["knowledge/documents/pdf-process.ts"],
  tinyld: ["ability/image/language.ts"],
  "@ai-sdk/provider": ["ability/provider", "engine", "edge/sandbox", "knowledge/message"],
  "@ai-sdk/anthropic": ["ability/provider"],
  "@ai-sdk/openai": ["ability/provider"],
  "@ai-sdk/google": ["ability/provider"],
  "@ai-sdk/amazon-bedrock": ["ability/provider/cloud-models.ts"],
  "@ai-sdk/google-vertex": ["ability/provider/cloud-models.ts"],
  "@aws-sdk/credential-providers": ["ability/provider/cloud-models.ts"],
  "@azure/identity": ["ability/provider/cloud-models.ts"],
  "@a2a-js/sdk": ["ability/a2a", "edge/a2a"],
  "@agentclientprotocol/sdk": ["edge/acp"],
  "@modelcontextprotocol/client": ["ability/mcp"],
  "@modelcontextprotocol/server": ["edge/mcp"],
  "@vscode/ripgrep": ["knowledge/grounding/ripgrep.ts"],
  ripgrep: ["knowledge/grounding/ripgrep.ts"],
  preact: ["edge/web"],
  "@preact/signals": ["edge/web"],
  htm: ["edge/web/base/html.ts"],
  marked: ["edge/web"],
  "@dagrejs/dagre": ["edge/web/panel/plan-graph.ts"],
  zod: ["util", "kernel", "knowledge", "ability", "engine", "edge", "index.ts"],
}

type Import = { specifier: string; typeOnly: boolean; alias?: string }
type Edge = { from: string; to: string; typeOnly: boolean }

const root = new URL("..", import.meta.url).pathname
const maxFiles = 20
const begin = "<!-- graph: drawn by script/architecture.ts -->"
const end = "<!-- end of graph -->"

/** Every rule that the tree below `src/` breaks, one line each. */
export function check(folder = root): string[] {
  const source = read(folder)
  const edges = edgesOf(folder)
  return [
    ...source.flatMap(({ file }) => (layerOf(file) < 0 ? [`${file} belongs to no layer`] : [])),
    ...edges.flatMap(upward),
    ...edges.flatMap(pastEntry),
    ...cycles(edges),
    ...source.flatMap(({ file, imports }) =>
      imports.flatMap((item) => [...misnamed(file, item), ...foreign(file, item)]),
    ),
  ]
}

/** The graph of areas that import each other, as Mermaid. An arrow that a longer path implies is left out. */
export function draw(folder = root): string {
  const next = new Map<string, Set<string>>()
  for (const { from, to, typeOnly } of edgesOf(folder)) {
    const [above, below] = [areaOf(from), areaOf(to)]
    if (!typeOnly && above !== below) next.set(above, (next.get(above) ?? new Set()).add(below))
  }
  const reached = new Map([...next.keys()].map((name) => [name, reachedFrom(name, next)]))
  const lines = [...next].flatMap(([from, below]) =>
    [...below]
      .filter((to) => ![...below].some((other) => other !== to && reached.get(other)?.has(to)))
      .map((to) => `  ${node(from)} --> ${node(to)}`),
  )
  return ["```mermaid", "graph TD", ...lines.sort(), "```"].join("\n")
}

/** Folders with more files than a listing should have, and folders that import each other in a circle, types included. */
export function figures(folder = root): string[] {
  const counts = Map.groupBy(read(folder), ({ file }) => dirname(file))
  const next = new Map<string, Set<string>>()
  for (const { from, to } of edgesOf(folder)) {
    const [above, below] = [dirname(from), dirname(to)]
    if (above !== below) next.set(above, (next.get(above) ?? new Set()).add(below))
  }
  const circular = [...counts.keys()].filter((name) => reachedFrom(name, next).has(name))
  const large = [...counts].filter(([, files]) => files.length > maxFiles)
  return [
    `${counts.size} folders, ${large.length} with more than ${maxFiles} files${large.length ? `: ${large.map(([name, files]) => `${name} ${files.length}`).join(", ")}` : ""}`,
    `${circular.length} folders in a cycle${circular.length ? `: ${circular.join(", ")}` : ""}`,
    `${edgesOf(folder).flatMap(pastEntry).length} imports reach past the entry files of another area`,
  ]
}

/** ARCHITECTURE.md with the graph as it is now. */
export function withGraph(text: string, folder = root): string {
  const [before, after] = [text.split(begin)[0], text.split(end)[1]]
  return `${before}${begin}\n${draw(folder)}\n${end}${after}`
}

/** Everything below a name, over any number of steps. */
function reachedFrom(first: string, next: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const found = new Set(next.get(first))
  // A set that grows while it is walked is walked to its new end.
  for (const one of found) for (const below of next.get(one) ?? []) found.add(below)
  return found
}

/** The folders of an area, then the area's own files. */
function area(name: string, folders: string): string[] {
  return [...folders.split(" ").map((folder) => `${name}/${folder}`), name]
}

function areaOf(file: string): string {
  return layers[layerOf(file)]!.split("/").slice(0, 2).join("/")
}

function edgesOf(folder: string): Edge[] {
  return read(folder).flatMap(({ file, imports }) => imports.flatMap((item) => edgeOf(file, item)))
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

/** The layer with the longest matching name: `ability/tool/builtin` before `ability/tool`. */
function layerOf(file: string): number {
  const fitting = layers.filter((layer) => file === layer || file.startsWith(`${layer}/`))
  return layers.indexOf(fitting.sort((a, b) => b.length - a.length)[0] ?? "")
}

function upward({ from, to }: Edge): string[] {
  return layerOf(to) <= layerOf(from) ? [] : [`${from} imports ${to}, which is above it`]
}

/** The entry files of an area lie in its own folder; the folders below are for the area itself. */
function pastEntry({ from, to }: Edge): string[] {
  const isPast = layerOf(from) >= 0 && layerOf(to) >= 0 && areaOf(from) !== areaOf(to)
  if (from === "index.ts" || !isPast || dirname(to).split("/").length <= 2) return []
  return [`${from} imports ${to}, past the entry files of ${areaOf(to)}`]
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
    return specifier.startsWith("../..") ? [`${file} imports by a path with "../..": ${specifier}`] : []
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
  for (const line of figures()) console.log(line)
  console.log(`architecture: ${problems.length} problems`)
  process.exitCode = problems.length ? 1 : 0
}
