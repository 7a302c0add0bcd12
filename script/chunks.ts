// Decides which modules share a file of `dist/`. By itself, the bundler makes dozens of files, one for every set of
// entries that share a module, and each adds half a millisecond to a start.
import { resolve } from "node:path"
import type { Rolldown } from "tsdown"

type Context = Parameters<Rolldown.CodeSplittingNameFunction>[1]

/** The chunks and their entry files, in order. A chunk has the modules that its entry file imports statically, without
 * those of earlier chunks. */
const commands = {
  start: "vitamin.ts",
  command: "main.ts",
  chat: "command/chat.ts",
  base: "command/config.ts",
  sandbox: "run/run-sandboxed.ts",
  core: "run/run.ts",
  // A terminal that attaches to a server needs its token, and one that works alone its routes; neither needs HTTP.
  token: "../server/token.ts",
  routes: "../server/local-transport.ts",
  heap: "process/bound-heap.ts",
  server: "command/serve.ts",
}
/** The client of most models, which a run loads when it asks one. */
const client = resolve("src/ability/provider/chat/chat-model.ts")
/** Chunks whose modules go into `common` if a run needs them too. */
const early = new Set(["start", "command", "chat"])
const common = "common"
/** Modules that the server and the terminal load at their start, and a run on demand. They are apart, so that a run does
 * not load the routes or the server. */
const shared = "shared"
const serving = new Set(["routes", "server"])

export function createChunks(): Rolldown.CodeSplittingOptions {
  let names: Map<string, string> | undefined
  const name = (id: string, context: Context) => {
    names ??= nameModules(context)
    return names.get(id) ?? null
  }
  return { groups: [{ debugName: "commands", name }], includeDependenciesRecursively: false }
}

function nameModules(context: Context): Map<string, string> {
  const names = new Map<string, string>()
  const fileOf = (file: string) => resolve("src/edge/cli", file)
  const later = reachable(context, fileOf(commands.core))
  const core = reachable(context, fileOf(commands.core), { isStatic: true })
  const visit = (id: string, name: string) => {
    if (names.has(id)) return
    names.set(id, placeOf(id, name))
    for (const imported of context.getModuleInfo(id)?.importedIds ?? []) visit(imported, name)
  }
  const placeOf = (id: string, name: string) => {
    if (serving.has(name) && later.has(id)) return shared
    // A run without a sandbox does not load its chunk.
    return name === "sandbox" && core.has(id) ? "base" : name
  }
  for (const [name, file] of Object.entries(commands)) {
    visit(fileOf(file), name)
    if (name === "core") visit(client, name)
  }
  for (const [id, name] of names) {
    if (early.has(name) && later.has(id)) names.set(id, common)
    // It stays in the entry.
    else if (name === "start") names.delete(id)
  }
  return names
}

/** Everything that a module may ever load, or loads at once. */
function reachable(context: Context, first: string, { isStatic = false } = {}): Set<string> {
  const found = new Set([first])
  for (const id of found) {
    const { importedIds = [], dynamicallyImportedIds = [] } = context.getModuleInfo(id) ?? {}
    for (const next of [...importedIds, ...(isStatic ? [] : dynamicallyImportedIds)]) found.add(next)
  }
  return found
}
