// The runtime of one directory. Everything that belongs to a directory hangs on its instance, is made once, and is
// taken down with it. Code finds its instance through AsyncLocalStorage, after awaits and in callbacks too.
import { AsyncLocalStorage } from "node:async_hooks"
import * as Log from "#kernel/process/log.ts"
import { errorText, NamedError } from "#util/error.ts"
import * as Space from "./space.ts"

type Dispose = ((state: unknown) => unknown) | undefined
type Cell = { value: unknown; dispose: Dispose; isWork: boolean; isEnded: boolean }
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

class Disposed extends NamedError {
  constructor(directory: string) {
    super(
      "Instance.Disposed",
      `The instance of ${JSON.stringify(directory)} was disposed. Work that outlives its Instance.provide() call needs Instance.hold().`,
      { directory },
    )
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
    const directory = Space.realDirectory(options.directory)
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

  /** A value made at most once per instance, by the first call of the returned accessor. A state with `isWork` holds
   * running work: its `dispose` stops that work, and is called before the parts that the work uses are disposed. */
  state<S>(
    factory: () => S,
    dispose?: (state: Awaited<S>) => unknown,
    { isWork = false }: { isWork?: boolean } = {},
  ): () => S {
    const key = Symbol()
    return () => {
      const { cells, phase, directory } = use()
      if (phase === "ended") throw new Disposed(directory)
      let cell = cells.get(key)
      if (!cell) {
        cell = { value: factory(), dispose: dispose as Dispose, isWork, isEnded: false }
        cells.set(key, cell)
      }
      return cell.value as S
    }
  },

  /** What is done in every instance that stood, when all its states are disposed. */
  atEnd(fn: () => unknown): void {
    ends.add(fn)
  },

  /** Stop the work of every instance and wait for it. Its other parts stay up. */
  async stopWork(): Promise<void> {
    const all = await everyInstance()
    await Promise.all(all.map((context) => current.run(context, () => endWork(context))))
  },

  /** Take the current instance down: first its work, then every other state, last made first, each once. */
  async dispose(): Promise<void> {
    await disposeContext(use())
  },

  async disposeAll(): Promise<void> {
    await Promise.all((await everyInstance()).map(disposeContext))
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

async function everyInstance(): Promise<Context[]> {
  const all = await Promise.allSettled(instances.values())
  return all.flatMap((made) => (made.status === "fulfilled" ? [made.value] : []))
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
    await endWork(context)
    await endCells(context, () => true)
    if (stood) for (const end of ends) await safely(context, end)
    context.phase = "ended"
    context.cells.clear()
  })
  return context.disposed
}

/** A session whose shell is disposed first takes the end of its command for a result, and asks the model again. */
function endWork(context: Context): Promise<void> {
  return endCells(context, ({ isWork }) => isWork)
}

/** Last made first. A cell that a `dispose` function makes is disposed as well. */
async function endCells(context: Context, isChosen: (cell: Cell) => boolean): Promise<void> {
  const next = () => [...context.cells.values()].findLast((cell) => !cell.isEnded && isChosen(cell))
  for (let cell = next(); cell; cell = next()) {
    const { value, dispose } = cell
    cell.isEnded = true
    await safely(context, async () => dispose?.(await value))
  }
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
  if (!context)
    throw new NamedError(
      "Instance.NoInstance",
      "There is no current instance. Call this inside Instance.provide({ directory, fn }).",
    )
  return context
}
