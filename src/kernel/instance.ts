// The runtime of one directory. Everything that belongs to a directory hangs on its instance, is made once, and is
// taken down with it. Code finds its instance through AsyncLocalStorage, after awaits and in callbacks too.
import { AsyncLocalStorage } from "node:async_hooks"
import { realpathSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { errorText, NamedError } from "#util/error.ts"
import * as Log from "./log.ts"
import * as Space from "./space.ts"

type Cell = { value: unknown; dispose?: (state: unknown) => unknown }
type Context = {
  directory: string
  project: Space.SpaceInfo
  cells: Map<symbol, Cell>
  disposed?: Promise<void>
}

class NoInstance extends NamedError {
  constructor() {
    super(
      "Instance.NoInstance",
      "There is no current instance. Call this inside Instance.provide({ directory, fn }).",
    )
  }
}

class InvalidDirectory extends NamedError {
  constructor(directory: string, reason: string) {
    super("Instance.InvalidDirectory", `Directory ${JSON.stringify(directory)} cannot be used: ${reason}`, {
      directory,
    })
  }
}

const current = new AsyncLocalStorage<Context>()
const instances = new Map<string, Promise<Context>>()
const ends = new Set<() => unknown>()

export const Instance = {
  get directory(): string {
    return use().directory
  },
  get worktree(): string {
    return use().project.worktree
  },
  get project(): Space.SpaceInfo {
    return use().project
  },

  /** Run `fn` in the instance of a directory. The first call makes it and runs `init`; racing calls wait for that. */
  async provide<T>(options: {
    directory: string
    init?: () => unknown
    fn: () => T | Promise<T>
  }): Promise<T> {
    const directory = realDirectory(options.directory)
    let context = await instanceOf(directory, options.init)
    while (context.disposed) {
      await context.disposed
      context = await instanceOf(directory, options.init)
    }
    return current.run(context, options.fn)
  },

  /** A value made at most once per instance, by the first call of the returned accessor. */
  state<S>(factory: () => S, dispose?: (state: Awaited<S>) => unknown): () => S {
    const key = Symbol()
    return () => {
      const { cells } = use()
      let cell = cells.get(key)
      if (!cell) {
        cell = { value: factory(), ...(dispose ? { dispose: dispose as (state: unknown) => unknown } : {}) }
        cells.set(key, cell)
      }
      return cell.value as S
    }
  },

  /** What is done in every instance when all its states are disposed. */
  atEnd(fn: () => unknown): void {
    ends.add(fn)
  },

  /** Take the current instance down: every state's `dispose`, last made first, each once. */
  async dispose(): Promise<void> {
    await disposeContext(use())
  },

  async disposeAll(): Promise<void> {
    const all = await Promise.allSettled(instances.values())
    await Promise.all(
      all.flatMap((made) => (made.status === "fulfilled" ? [disposeContext(made.value)] : [])),
    )
  },
}

function instanceOf(directory: string, init?: () => unknown): Promise<Context> {
  const known = instances.get(directory)
  if (known) return known
  const made = create(directory, init)
  instances.set(directory, made)
  made.catch(() => instances.get(directory) === made && instances.delete(directory))
  return made
}

async function create(directory: string, init?: () => unknown): Promise<Context> {
  const context: Context = { directory, project: await Space.detect(directory), cells: new Map() }
  try {
    await current.run(context, async () => init?.())
  } catch (error) {
    await disposeContext(context)
    throw error
  }
  return context
}

function disposeContext(context: Context): Promise<void> {
  context.disposed ??= current.run(context, async () => {
    instances.delete(context.directory)
    for (const { value, dispose } of [...context.cells.values()].reverse())
      try {
        await dispose?.(await value)
      } catch (error) {
        Log.error("a part of an instance could not be disposed", {
          directory: context.directory,
          error: errorText(error),
        })
      }
    for (const end of ends) end()
    context.cells.clear()
  })
  return context.disposed
}

function use(): Context {
  const context = current.getStore()
  if (!context) throw new NoInstance()
  return context
}

function realDirectory(directory: string): string {
  if (directory.includes("\0")) throw new InvalidDirectory(directory, "it has a NUL byte")
  try {
    const real = realpathSync(resolve(directory))
    if (statSync(real).isDirectory()) return real
  } catch (error) {
    throw new InvalidDirectory(directory, errorText(error))
  }
  throw new InvalidDirectory(directory, "it is not a directory")
}
