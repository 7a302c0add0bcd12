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
  phase: "making" | "standing" | "ending" | "ended"
  /** How many `provide` calls run in it, and how many have it in hold. */
  users: number
  /** By the clock that never goes back. */
  usedAt: number
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

class Disposed extends NamedError {
  constructor(directory: string) {
    super(
      "Instance.Disposed",
      `The instance of ${JSON.stringify(directory)} was disposed. Work that outlives its Instance.provide() call needs Instance.hold().`,
      { directory },
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
/** The instances whose `init` this call is part of; waiting for one of them would be waiting for itself. */
const making = new AsyncLocalStorage<readonly Context[]>()
const instances = new Map<string, Promise<Context>>()
const standing = new Set<Context>()
const ends = new Set<() => unknown>()

export const Instance = {
  /** Whether there is a current one. */
  get isProvided(): boolean {
    return current.getStore() !== undefined
  },
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
    let context = beingMade(directory) ?? (await instanceOf(directory, options.init))
    while (context.disposed) {
      await context.disposed
      context = await instanceOf(directory, options.init)
    }
    const release = hold(context)
    try {
      return await current.run(context, options.fn)
    } finally {
      release()
    }
  },

  /** Keep the current instance from `disposeIdle` until the returned function is called: for work that goes on after
   * the `provide` call in which it began. */
  hold(): () => void {
    const context = use()
    if (context.phase === "ended") throw new Disposed(context.directory)
    return hold(context)
  },

  /** A value made at most once per instance, by the first call of the returned accessor. */
  state<S>(factory: () => S, dispose?: (state: Awaited<S>) => unknown): () => S {
    const key = Symbol()
    return () => {
      const { cells, phase, directory } = use()
      if (phase === "ended") throw new Disposed(directory)
      let cell = cells.get(key)
      if (!cell) {
        cell = { value: factory(), ...(dispose ? { dispose: dispose as (state: unknown) => unknown } : {}) }
        cells.set(key, cell)
      }
      return cell.value as S
    }
  },

  /** What is done in every instance that stood, when all its states are disposed. */
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

  /** Take down what nobody uses: instances unused for `olderThan` milliseconds, and of the others the least recently
   * used until no more than `keep` stand. One that is in use, or is `except`, stays. */
  async disposeIdle(options: { olderThan: number; keep: number; except?: string }): Promise<void> {
    const limit = performance.now() - options.olderThan
    const idle = [...standing]
      .filter(({ users, directory }) => users === 0 && directory !== options.except)
      .sort((a, b) => a.usedAt - b.usedAt)
    const tooMany = standing.size - options.keep
    await Promise.all(idle.filter(({ usedAt }, i) => i < tooMany || usedAt <= limit).map(disposeContext))
  },
}

function beingMade(directory: string): Context | undefined {
  return making.getStore()?.find((one) => one.directory === directory && one.phase === "making")
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
  const project = await Space.detect(directory)
  const context: Context = { directory, project, cells: new Map(), phase: "making", users: 0, usedAt: 0 }
  try {
    const outer = making.getStore() ?? []
    await making.run([...outer, context], () => current.run(context, async () => init?.()))
  } catch (error) {
    await disposeContext(context)
    throw error
  }
  if (context.disposed) return context
  context.phase = "standing"
  context.usedAt = performance.now()
  standing.add(context)
  return context
}

function hold(context: Context): () => void {
  let held = true
  context.users++
  context.usedAt = performance.now()
  return () => {
    if (!held) return
    held = false
    context.users--
    context.usedAt = performance.now()
  }
}

function disposeContext(context: Context): Promise<void> {
  context.disposed ??= current.run(context, async () => {
    const stood = context.phase === "standing"
    context.phase = "ending"
    instances.delete(context.directory)
    standing.delete(context)
    const done = new Set<Cell>()
    // What a dispose function still makes is disposed as well.
    for (let cell = lastOf(context, done); cell; cell = lastOf(context, done)) {
      const { value, dispose } = cell
      done.add(cell)
      await safely(context, async () => dispose?.(await value))
    }
    if (stood) for (const end of ends) await safely(context, end)
    context.phase = "ended"
    context.cells.clear()
  })
  return context.disposed
}

function lastOf(context: Context, done: Set<Cell>): Cell | undefined {
  return [...context.cells.values()].findLast((cell) => !done.has(cell))
}

async function safely(context: Context, end: () => unknown): Promise<void> {
  try {
    await end()
  } catch (error) {
    Log.error("a part of an instance could not be disposed", {
      directory: context.directory,
      error: errorText(error),
    })
  }
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
