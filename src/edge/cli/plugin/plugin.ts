// `vitamin plugin …`: shows what a plugin contains before it is trusted, and installs, updates, lists and removes plugins.
import { type Fetched, fetchPlugin, readAddress } from "#ability/plugin/fetch-plugin.ts"
import { getEntry, install, installedTree, uninstall } from "#ability/plugin/install.ts"
import type { Tree } from "#ability/plugin/tree.ts"
import { markName } from "#ability/shell/environment.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions } from "#edge/cli/process/in-instance.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import { reviewChanges, summaryOf } from "#edge/cli/terminal/review-changes.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { type Entry, readLock, rootOf, type Source } from "#kernel/plugin/plugins.ts"
import * as Env from "#kernel/process/env.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import { describePlugin } from "./describe-plugin.ts"

type Format = { format: "text" | "json" }

export async function addPlugin(
  options: FolderOptions & { address: string; ref?: string | undefined; yes?: boolean | undefined },
): Promise<void> {
  refuseModel()
  const source = await asUsage(() =>
    readAddress(options.address, { directory: directoryOf(options), ref: options.ref }),
  )
  const fetched = await asUsage(() => fetchPlugin(source))
  const before = readLock().find(({ name }) => name === fetched.entry.name)
  if (before && !isSamePlace(before.source, fetched.entry.source))
    throw new UsageError(
      `There is a plugin "${before.name}" of ${placeOf(before.source)} already. To replace it: ${ownCommand} plugin remove ${before.name}`,
    )
  await decide(fetched, { before, yes: options.yes ?? false })
}

export async function updatePlugins(options: {
  plugin?: string[] | undefined
  yes?: boolean | undefined
}): Promise<void> {
  refuseModel()
  const named = options.plugin?.length ? await asUsage(() => options.plugin!.map(getEntry)) : readLock()
  if (!named.length) print("No plugins are installed.")
  for (const before of named) {
    const { commit: _, integrity: __, ...source } = before.source
    const fetched = await asUsage(() => fetchPlugin(source))
    if (fetched.entry.name !== before.name)
      throw new UsageError(
        `${placeOf(source)} is now the plugin "${fetched.entry.name}", not "${before.name}".`,
      )
    if (fetched.entry.content === before.content && installedTree(before))
      print(`${before.name} ${before.version} is up to date.`)
    else await decide(fetched, { before, yes: options.yes ?? false })
  }
}

export async function listPlugins({ format }: Format): Promise<void> {
  const all = readLock()
  if (format === "json") return printJson(all.map((entry) => ({ ...entry, root: rootOf(entry.content) })))
  if (!all.length)
    print(`No plugins are installed. To install one: ${ownCommand} plugin add FOLDER, ADDRESS or npm:NAME`)
  for (const entry of all) {
    const counts = Object.entries(entry.parts).flatMap(([kind, list]) => (list.length ? [kind] : []))
    const state = installedTree(entry) ? "" : "  ! its files are not as they were installed"
    print(`${entry.name} ${entry.version}  ${placeOf(entry.source)}  (${counts.join(", ")})${state}`)
  }
}

/** An installed plugin by its name, or any other by its address. */
export async function showPlugin(options: FolderOptions & Format & { plugin: string }): Promise<void> {
  const known = readLock().find(({ name }) => name === options.plugin)
  const tree = known && installedTree(known)
  const source =
    (known && { ...known.source }) ??
    (await asUsage(() => readAddress(options.plugin, { directory: directoryOf(options) })))
  const { entry, problems, ...rest } =
    known && tree ? { entry: known, tree, problems: [] } : await asUsage(() => fetchPlugin(source))
  const parts = await describePlugin(entry, rest.tree)
  if (options.format === "json")
    return printJson({ ...entry, isInstalled: tree !== undefined, does: parts, problems })
  await printContents({ entry, tree: rest.tree, problems })
}

export async function removePlugin({ plugin }: { plugin: string }): Promise<void> {
  const { version } = await asUsage(() => uninstall(plugin))
  print(`Removed: ${plugin} ${version}`)
}

/** Shows the contents or the difference, asks, and installs. */
async function decide(
  fetched: Fetched,
  { before, yes }: { before: Entry | undefined; yes: boolean },
): Promise<void> {
  const { entry, tree } = fetched
  const old = before && installedTree(before)
  const changes = changesOf(tree, old)
  await printContents(fetched)
  if (before)
    print(
      `Installed: ${before.version} (${before.content.slice(0, 16)}); ${countOf(changes.length, "file")} changed`,
    )
  if (!yes && !(process.stdin.isTTY && process.stderr.isTTY))
    throw new UsageError(
      `Nothing was installed: nobody can be asked here. Run it in a terminal, or with --yes to trust the contents as they are.`,
    )
  if (yes) for (const change of changes) process.stdout.write(safeText(summaryOf(change)))
  const accepted = yes ? changes : await reviewChanges(changes)
  if (accepted.length < changes.length) return print("Nothing was installed: a plugin is trusted as a whole.")
  await asUsage(() => install(entry, tree, before))
  print(`Installed: ${entry.name} ${entry.version} (sha256 ${entry.content.slice(0, 16)})`)
}

async function printContents({ entry, tree, problems }: Fetched): Promise<void> {
  const { name, version, description, source } = entry
  print(`${name} ${version} of ${placeOf(source)}${description ? `: ${description}` : ""}`)
  const described = await describePlugin(entry, tree)
  for (const { kind, file, does } of described) print(`  ${kind.padEnd(9)} ${file}: ${does}`)
  const programs = [...tree].filter(([, { isExecutable }]) => isExecutable).map(([path]) => path)
  if (programs.length) print(`  programs  ${programs.join(", ")}`)
  print(`  ${countOf(tree.size, "file")} in all`)
  for (const problem of problems) print(`  ! ${problem}`)
}

function changesOf(after: Tree, before: Tree | undefined): Trust.Change[] {
  const paths = new Set([...after.keys(), ...(before?.keys() ?? [])])
  return [...paths].sort().flatMap((path): Trust.Change[] => {
    const [now, old] = [after.get(path), before?.get(path)]
    const isSameMode = now?.isExecutable === old?.isExecutable
    if (now && old?.bytes.equals(now.bytes) && isSameMode) return []
    const known = old && Trust.textOf(old.bytes)
    const text = known === undefined ? {} : { before: known }
    if (!now) return [{ path, state: "removed", ...text }]
    const mode = !old || isSameMode ? "" : now.isExecutable ? " (now executable)" : " (no longer executable)"
    return [{ path: path + mode, state: old ? "changed" : "new", ...text, after: now.bytes }]
  })
}

function isSamePlace(one: Source, other: Source): boolean {
  const bare = (address: string) => address.replace(/(.)@[^/@]*$/, "$1")
  return one.type === other.type && bare(one.address) === bare(other.address) && one.plugin === other.plugin
}

function placeOf({ type, address, plugin, ref, commit }: Source): string {
  const place = `${type === "npm" && !address.endsWith(".tgz") ? "npm:" : ""}${address}${plugin ? `#${plugin}` : ""}`
  return `${place}${ref ? ` ${ref}` : ""}${commit ? ` ${commit.slice(0, 12)}` : ""}`
}

/** Otherwise a command of the model could install what the model has just written. */
function refuseModel(): void {
  if (Env.get(markName))
    throw new UsageError(
      "A command that vitamin runs cannot install plugins. Run it yourself, in a terminal.",
    )
}

async function asUsage<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof NamedError && error.name.startsWith("Plugin.")) throw new UsageError(error.message)
    throw error
  }
}

function print(line: string): void {
  process.stdout.write(`${safeText(line)}\n`)
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}
