// Runs the stories of a project in a real browser: one process that serves them, one browser, and a few pages at a time. A
// story that fails, or a browser that ends, does not stop the rest.
import { readFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { type Found, findBrowser, type Missing } from "#ability/browser/find-browser.ts"
import { type Chromium, startChromium } from "#ability/browser/start-browser.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import { errorText, NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import { orAborted } from "#util/wait.ts"
import { findAxe } from "./find-axe.ts"
import { findStories } from "./find-stories.ts"
import type { Listed } from "./play-story.ts"
import { listIn, runStory } from "./run-story.ts"
import { type Modules, startServer } from "./start-server.ts"
import type { Surroundings } from "./story-page.ts"
import { createStoryPages } from "./story-pages.ts"
import type { Outcome } from "./story-result.ts"

type Select = {
  /** Glob patterns of story files, or files whose stories are meant; all stories if empty. */
  patterns: readonly string[]
  signal: AbortSignal
}
export type World = Readonly<{
  /** Story files, from the work tree. */
  select(by: Select): Promise<string[]>
  /** The modules of a story file, from the work tree. */
  modules(file: string): Promise<Modules>
  run(
    files: readonly string[],
    options: { signal: AbortSignal; onOutcome?(outcome: Outcome): void },
  ): Promise<Outcome[]>
  close(): Promise<void>
}>

/** Pages that are open at the same time. */
const atOnce = 4
const maxStarts = 5

class NotTrusted extends NamedError {
  constructor(folder: string) {
    super(
      "World.NotTrusted",
      `Stories of ${folder} are not run: the folder is not trusted; "${ownCommand} trust" trusts it.`,
    )
  }
}

class BrowserMissing extends NamedError {
  constructor(missing: Missing[]) {
    const told = missing.map(({ what, todo }) => `${what} (${todo})`).join("; ")
    super("World.BrowserMissing", `Stories need a browser: ${told}.`)
  }
}

/** Throws if the work tree is not trusted, or if there is no browser. */
export async function checkWorld(directory: string): Promise<{ root: string; browser: Found }> {
  const { root, isTrusted } = await Reviewed.of(directory)
  if (!isTrusted) throw new NotTrusted(root)
  const browser = findBrowser()
  if (Array.isArray(browser)) throw new BrowserMissing(browser)
  return { root, browser }
}

/** `directory`: where stories are searched. */
export async function createWorld(directory: string): Promise<World> {
  const { root, browser: found } = await checkWorld(directory)
  const axe = findAxe()
  const source = axe.path === undefined ? undefined : await readFile(axe.path, "utf8")
  const server = await startServer({ root })
  let chromium: Promise<Chromium> | undefined
  let starts = 0
  let isClosed = false
  const around: Surroundings = {
    server,
    newContext: async (options, check) => (await connected()).newContext(options, check),
    axe: {
      ...(source === undefined ? {} : { source }),
      missing: `axe-core is not installed (${axe.todo})`,
    },
  }
  const pages = createStoryPages(around)

  /** A browser that ended, whatever ended it, is started again for the stories that are left. */
  async function connected(): Promise<Chromium> {
    chromium ??= start()
    const known = chromium
    const running = await known.catch(() => undefined)
    if (running?.browser.isConnected()) return running
    // Several stories may notice it, and one of them starts it.
    if (chromium === known) chromium = start()
    return chromium
  }

  async function start(): Promise<Chromium> {
    // Stories of an aborted run may still be under way.
    if (isClosed) throw new Error("the run was stopped")
    if (starts++ >= maxStarts) throw new Error(`the browser could not be started ${maxStarts} times`)
    return startChromium(found)
  }

  async function select({ patterns, signal }: Select): Promise<string[]> {
    const inTree = (paths: string[]) => paths.map((path) => relative(root, join(directory, path)))
    if (!patterns.length) return inTree(await findStories(directory, { signal }))
    const selected = new Set<string>()
    for (const pattern of patterns) {
      const stories = inTree(await findStories(directory, { pattern, signal }))
      const chosen = stories.length
        ? stories
        : await importing(relative(root, join(directory, pattern)), signal)
      for (const file of chosen) selected.add(file)
    }
    return [...selected].sort()
  }

  /** The story files that import this file. */
  async function importing(path: string, signal: AbortSignal): Promise<string[]> {
    const all = (await findStories(directory, { signal })).map((file) =>
      relative(root, join(directory, file)),
    )
    const graphs = await Promise.all(all.map(server.modules))
    return all.filter((_, at) => graphs[at]!.files.includes(path))
  }

  async function run(files: readonly string[], options: Parameters<World["run"]>[1]): Promise<Outcome[]> {
    const { signal, onOutcome } = options
    const outcomes: Outcome[] = []
    const take = (outcome: Outcome) => {
      outcomes.push(outcome)
      onOutcome?.(outcome)
    }
    const inTurn = createSlots(atOnce)
    await orAborted(Promise.all(files.map(runFile)), signal)
    const place = ({ file }: Outcome) => files.indexOf(file)
    return outcomes.sort((a, b) => place(a) - place(b) || (a.name < b.name ? -1 : 1))

    async function runFile(file: string): Promise<void> {
      const began = performance.now()
      const fail = (problems: string[], modules: string[]) =>
        take({
          file,
          name: "",
          intent: "",
          status: "failed",
          problems,
          assertions: { passed: 0, failed: 0 },
          modules,
          duration: Math.round(performance.now() - began),
        })
      const { files: modules, problems } = await server.modules(file)
      if (problems.length) return fail(problems, modules)
      let others: Promise<void>[] | undefined
      await inTurn(loadFile)
      await Promise.all(others ?? [])

      /** The page that lists the stories runs the first. */
      async function loadFile(): Promise<void> {
        if (signal.aborted) return
        try {
          const outcome = await pages.use(file, async (visit) => {
            const [first, ...rest] = await listIn(visit)
            if (!first) throw new Error("It exports no story: an object with an intent")
            others ??= rest.map((listed) => inTurn(() => runOne(listed)))
            return runStory(around, visit, first)
          })
          take({ file, modules, ...outcome })
        } catch (error) {
          fail([errorText(error).split("\n")[0]!], modules)
        }
      }

      async function runOne(listed: Listed): Promise<void> {
        if (signal.aborted) return
        try {
          const outcome = await pages.use(file, (visit) => runStory(around, visit, listed))
          take({ file, modules, ...outcome })
        } catch (error) {
          const { name, intent } = listed
          const problems = [errorText(error).split("\n")[0]!]
          take({
            file,
            name,
            intent,
            status: "failed",
            problems,
            assertions: { passed: 0, failed: 0 },
            modules,
            duration: 0,
          })
        }
      }
    }
  }

  async function close(): Promise<void> {
    isClosed = true
    server.close()
    await (await chromium?.catch(() => undefined))?.close()
  }

  return Object.freeze({ select, modules: server.modules, run, close })
}

/** Runs at most `count` pieces of work at a time, in the order in which they come. */
function createSlots(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = count
  return async (work) => {
    if (free > 0) free--
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}
