// The runtime of one directory. Everything that belongs to a directory is created once per instance and disposed with
// it. Code finds the current instance through AsyncLocalStorage, also after awaits and in callbacks.
import { AsyncLocalStorage } from "node:async_hooks"
import * as Log from "#kernel/process/log.ts"
import { errorText, NamedError } from "#util/error.ts"
import * as Person from "./person.ts"
import { realDirectory } from "./real-directory.ts"
import * as Space from "./space.ts"

type Dispose = ((state: unknown) => unknown) | undefined
type Cell = { value: unknown; dispose: Dispose; isWork: boolean; isDisposed: boolean }
type Context = {
  directory: string
  project: Space.SpaceInfo
  cells: Map<symbol, Cell>
  phase: "creating" | "active" | "disposing" | "disposed"
  /** The running `provide` calls and the `hold` calls that are not released. */
  users: number
  /** Time of the last use, by the monotonic clock. */
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
/** The instances whose `init` made this call. Waiting for one of them would be a deadlock. */
const creating = new AsyncLocalStorage<readonly Context[]>()
const instances = new Map<string, Promise<Context>>()
const active = new Set<Context>()
const disposedHandlers = new Set<() => unknown>()

export const Instance = {
  /** Whether there is a current instance. */
  get isProvided(): boolean {
    return current.getStore() !== undefined
  },
  get directory(): string {
    return use().directory
  },
  get worktree(): string {
    return use().project.worktree
  },
  /** The directory as all machines name it: that of a checkout is its address. */
  get place(): string {
    return use().project.place ?? use().directory
  },
  get project(): Space.SpaceInfo {
    return use().project
  },

  /** Run `fn` in the instance of a directory. The first call creates the instance and runs `init`; concurrent calls
   * wait for it. */
  async provide<T>(options: {
    directory: string
    init?: () => unknown
    fn: () => T | Promise<T>
  }): Promise<T> {
    const directory = realDirectory(options.directory)
    let context = findCreating(directory) ?? (await instanceOf(directory, options.init))
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
    if (context.phase === "disposed") throw new Disposed(context.directory)
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
      if (phase === "disposed") throw new Disposed(directory)
      let cell = cells.get(key)
      if (!cell) {
        cell = { value: factory(), dispose: dispose as Dispose, isWork, isDisposed: false }
        cells.set(key, cell)
      }
      return cell.value as S
    }
  },

  /** What `fn` returns in each active instance. */
  each<T>(fn: () => T): T[] {
    return [...active].map((context) => current.run(context, fn))
  },

  /** Calls `fn` in every instance that was active, after all its states are disposed. */
  onDisposed(fn: () => unknown): void {
    disposedHandlers.add(fn)
  },

  /** Stop the running work of every instance, and wait until it has stopped. Other states stay. */
  async stopWork(): Promise<void> {
    const all = await everyInstance()
    await Promise.all(all.map((context) => current.run(context, () => disposeWork(context))))
  },

  /** Dispose the current instance: first its work, then its other states, the newest first. */
  async dispose(): Promise<void> {
    await disposeContext(use())
  },

  async disposeAll(): Promise<void> {
    await Promise.all((await everyInstance()).map(disposeContext))
  },

  /** Dispose instances that nobody uses: those unused for `olderThan` milliseconds, and the least recently used ones
   * while there are more than `keep`. The instance of the directory `except` stays. */
  async disposeIdle(options: { olderThan: number; keep: number; except?: string }): Promise<void> {
    const limit = performance.now() - options.olderThan
    const idle = [...active]
      .filter(({ users, directory }) => users === 0 && directory !== options.except)
      .sort((a, b) => a.usedAt - b.usedAt)
    const tooMany = active.size - options.keep
    await Promise.all(idle.filter(({ usedAt }, i) => i < tooMany || usedAt <= limit).map(disposeContext))
  },
}

function findCreating(directory: string): Context | undefined {
  return creating.getStore()?.find((one) => one.directory === directory && one.phase === "creating")
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
  const context: Context = { directory, project, cells: new Map(), phase: "creating", users: 0, usedAt: 0 }
  try {
    const outer = creating.getStore() ?? []
    // What an instance starts belongs to nobody, whoever asks first: it reports waiting prompts of all people, for example.
    const start = () => Person.run(undefined, async () => init?.())
    await creating.run([...outer, context], () => current.run(context, start))
  } catch (error) {
    await disposeContext(context)
    throw error
  }
  if (context.disposed) return context
  context.phase = "active"
  context.usedAt = performance.now()
  active.add(context)
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
    const wasActive = context.phase === "active"
    context.phase = "disposing"
    instances.delete(context.directory)
    active.delete(context)
    await disposeWork(context)
    await disposeCells(context, () => true)
    if (wasActive) for (const handler of disposedHandlers) await safely(context, handler)
    context.phase = "disposed"
    context.cells.clear()
  })
  return context.disposed
}

/** Before the other states: a session would take the end of a disposed shell for a result, and ask the model again. */
function disposeWork(context: Context): Promise<void> {
  return disposeCells(context, ({ isWork }) => isWork)
}

/** The newest first. A cell that a `dispose` function creates is disposed too. */
async function disposeCells(context: Context, isChosen: (cell: Cell) => boolean): Promise<void> {
  const next = () => [...context.cells.values()].findLast((cell) => !cell.isDisposed && isChosen(cell))
  for (let cell = next(); cell; cell = next()) {
    const { value, dispose } = cell
    cell.isDisposed = true
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
