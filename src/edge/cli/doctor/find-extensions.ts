// The lines of `vitamin doctor` about hooks, commands and plugins: which are in force and from which files, and what is not
// used, not reviewed or broken.
import { homedir } from "node:os"
import { isAbsolute, relative } from "node:path"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { installed, readLock } from "#kernel/plugin/plugins.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { ownCommand } from "#util/own-command.ts"
import type { Finding } from "./doctor.ts"

/** Lines about faults of one kind. */
const most = 10

export async function findExtensions(directory: string): Promise<Finding[]> {
  const isConfigured = await Config.inspect({ directory }).then(
    () => true,
    () => false,
  )
  // The problem with the configuration was reported already.
  if (!isConfigured) return findPlugins()
  try {
    return await Instance.provide({
      directory,
      fn: async () => [...(await findHooks()), ...(await findCommands()), ...(await findPlugins())],
    })
  } finally {
    await Instance.disposeAll()
  }
}

async function findHooks(): Promise<Finding[]> {
  const about = "hooks"
  const { loadHooks } = await import("#ability/hook/load-hooks.ts")
  const { hooks, unused } = await loadHooks({ isQuiet: true })
  const text = `${countOf(hooks.length, "hook")}${from(hooks.map(({ source }) => source))}`
  return [{ state: "ok", about, text }, ...faults(about, unused.map(shorten))]
}

async function findCommands(): Promise<Finding[]> {
  const about = "commands"
  const Command = await import("#ability/command/command.ts")
  const { commands, problems } = await Command.list()
  const unreviewed = commands.filter(({ refusal }) => refusal !== undefined)
  const text = `${countOf(commands.length, "command")}${from(commands.map(({ file }) => folderOf(file)))}`
  const names = unreviewed.map(({ name }) => `/${name}`)
  const waiting: Finding = {
    state: "note",
    about,
    text: `not reviewed, so without shell lines, allowed-tools, model and agent: ${listed(names)}`,
    todo: `${ownCommand} trust`,
  }
  return [
    { state: "ok", about, text },
    ...(unreviewed.length ? [waiting] : []),
    ...faults(
      about,
      problems.map(({ file, message }) => `${shorten(file)}: ${message}`),
    ),
  ]
}

/** Reads the copies of all plugins. */
async function findPlugins(): Promise<Finding[]> {
  const about = "plugins"
  const entries = readLock()
  if (!entries.length) return [{ state: "ok", about, text: "none" }]
  const { installedTree } = await import("#ability/plugin/install.ts")
  return entries.map((entry): Finding => {
    const { name, version, parts, source } = entry
    const kinds = Object.entries(parts).flatMap(([kind, list]) => (list.length ? [kind] : []))
    const place = `${name} ${version} of ${shorten(source.address)}`
    if (installedTree(entry)) return { state: "ok", about, text: `${place}: ${kinds.join(", ")}` }
    const todo = `${ownCommand} plugin update ${name}, or ${ownCommand} plugin remove ${name}`
    return { state: "bad", about, text: `${place}: its files are not as they were installed`, todo }
  })
}

function faults(about: string, texts: readonly string[]): Finding[] {
  const shown = texts.slice(0, most).map((text): Finding => ({ state: "note", about, text }))
  const left = texts.length - shown.length
  return left ? [...shown, { state: "note", about, text: `and ${left} more` }] : shown
}

function from(files: readonly string[]): string {
  return files.length ? ` from ${listed([...new Set(files.map(shorten))])}` : ""
}

function listed(names: readonly string[]): string {
  return `${names.slice(0, most).join(", ")}${names.length > most ? ", …" : ""}`
}

function folderOf(file: string): string {
  return /^.*\/(?:commands?)(?=\/)/.exec(file)?.[0] ?? file
}

/** A path of a plugin by its name, one below the home folder with `~`. */
function shorten(text: string): string {
  const [path = "", ...rest] = text.split(": ")
  if (!isAbsolute(path)) return text
  const plugin = installed().find(({ root }) => isInside(root, path))
  if (plugin) return [`${relative(plugin.root, path)} of the plugin ${plugin.name}`, ...rest].join(": ")
  const home = relative(homedir(), path)
  const short = home.startsWith("..") ? path : `~/${home}`
  return [short, ...rest].join(": ")
}
