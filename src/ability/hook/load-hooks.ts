// The hooks of the current instance: those of files, and the functions of the configuration. Loaded once, and again when a
// file, the configuration or the review of the folder has changed.
import { join, relative } from "node:path"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import { installed } from "#kernel/plugin/plugins.ts"
import * as Log from "#kernel/process/log.ts"
import { reviewedBytes } from "#kernel/reviewed/hook-content.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { hookEvents } from "#kernel/schema/schema.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { errorText } from "#util/error.ts"
import { statOf } from "#util/file/path-info.ts"
import { ownCommand } from "#util/own-command.ts"
import { type HookFile, hookFiles, hookState, type Loaded } from "./has-hooks.ts"
import { createMatcher, type Hook } from "./hook.ts"
import { type HookSource, nameOfFunction, type ReadHooks, readHookFile, timeoutFor } from "./hook-file.ts"
import { pluginHooks } from "./plugin-hooks.ts"

/** Parts that are not used are logged once, unless the caller shows them. */
export async function loadHooks({ isQuiet = false } = {}): Promise<Loaded> {
  const own = hookState()
  const { hooks: config } = await Config.get()
  const files = hookFiles(config?.otherAgents)
  const stamp = await stampOf(files)
  if (own.loaded && own.config === config && own.stamp === stamp) return own.loaded
  const loaded = await read(config, files)
  const before = new Set(own.loaded?.unused)
  for (const line of loaded.unused) if (!isQuiet && !before.has(line)) Log.warn(line)
  Object.assign(own, { config, stamp, loaded })
  return loaded
}

/** A text that changes whenever a file or the review of the folder changes. */
async function stampOf(files: readonly HookFile[]): Promise<string> {
  const marks = files.map(({ path }) => {
    const { ino, size, mtimeMs } = statOf(path) ?? {}
    return [ino, size, mtimeMs]
  })
  const plugins = installed().map(({ content }) => content)
  return JSON.stringify([marks, plugins, (await Reviewed.of(Instance.worktree)).stamp])
}

async function read(config: Config.Info["hooks"], files: readonly HookFile[]): Promise<Loaded> {
  const hooks: Hook[] = functionsOf(config)
  const unused: string[] = []
  for (const file of files) {
    const source = await sourceOf(file).catch((error) => {
      unused.push(`${file.path}: its hooks are not used: ${errorText(error)}`)
      return undefined
    })
    if (!source) continue
    const found = source.refusal ? await lastTrusted(source, source.refusal) : readHookFile(source)
    hooks.push(...found.hooks)
    unused.push(...found.problems)
  }
  const plugins = pluginHooks()
  unused.push(...plugins.problems)
  for (const source of plugins.sources) {
    const found = readHookFile(source)
    hooks.push(...found.hooks)
    unused.push(...found.problems)
  }
  return { hooks, unused }
}

async function sourceOf({ path, isProjects }: HookFile): Promise<HookSource | undefined> {
  const whole = await readSmallFile(path)
  const bytes = whole && reviewedBytes(path, whole)
  if (!isProjects) return bytes && { path, bytes, isProjects }
  const reviewed = await Reviewed.of(Instance.worktree)
  if (bytes) return { path, bytes, isProjects, refusal: reviewed.refusal(path, bytes) }
  const refusal = `it was removed since it was reviewed; "${ownCommand} trust" shows it`
  return reviewed.paths().includes(path) ? { path, bytes: Buffer.alloc(0), isProjects, refusal } : undefined
}

/** A file that was changed or removed keeps the hooks that a person has reviewed: otherwise a command could end a hook by
 * writing to its file. */
async function lastTrusted(source: HookSource, refusal: string): Promise<ReadHooks> {
  const text = await Trust.trustedText(Instance.worktree, relative(Instance.worktree, source.path))
  const { hooks } = text === undefined ? { hooks: [] } : readHookFile({ ...source, bytes: Buffer.from(text) })
  const stay = hooks.length ? "; the hooks that were reviewed stay in force" : ""
  return { hooks, problems: [`${source.path}: its hooks are not used: ${refusal}${stay}`] }
}

function functionsOf(config: Config.Info["hooks"]): Hook[] {
  return hookEvents.flatMap((event) =>
    (config?.on?.[event] ?? []).flatMap(({ matcher = "", timeout, hooks }) =>
      hooks.map((call) => ({
        event,
        matcher,
        fits: createMatcher(matcher),
        name: nameOfFunction(call.name, ".vitamin/config.ts"),
        source: join(Instance.worktree, ".vitamin/config.ts"),
        timeout: timeoutFor(event, timeout),
        work: { type: "function" as const, call },
      })),
    ),
  )
}
