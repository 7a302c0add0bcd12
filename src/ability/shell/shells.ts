// The running shells of an Instance or of one call. They and all that they started end with `end` and when the process
// exits; those of an Instance even if the process is killed.
import { statSync } from "node:fs"
import type { Places } from "#ability/sandbox/sandbox.ts"
import { Instance } from "#kernel/instance.ts"
import { findProgram } from "#kernel/process/find-program.ts"
import { createId } from "#util/id.ts"
import { createGuard } from "./guard.ts"
import { createPipes } from "./pipes.ts"
import * as Processes from "./processes.ts"
import { NotStarted, type Order, type Shell, startShell } from "./start-shell.ts"

export type Shells = {
  start(order: Order): Promise<Shell>
  /** End every shell, and the daemons that any of them left. */
  end(): Promise<void>
}

/** The marks of finished commands, by the signal of their turn. */
const left = new WeakMap<AbortSignal, Set<string>>()

export const ofInstance = Instance.state(
  () => createShells({ pipes: 16, guarded: true }),
  (shells) => shells.end(),
)

/** `pipes`: how many are kept ready. `guarded`: a guard process watches them, which is too much for one call. */
export function createShells(options: { pipes: number; guarded?: true }): Shells {
  const pipes = createPipes(options.pipes)
  const tag = createId("sh")
  const running = new Set<Shell>()
  const groups = () => [...running].map(({ group }) => group)
  const guard = options.guarded && createGuard(`${tag}.`, groups)
  const isOurs = (mark: string) => mark.startsWith(`${tag}.`)
  const onExit = () => Processes.kill(groups(), isOurs)
  let file: string | undefined
  let places: Promise<Places> | undefined
  let count = 0
  let ended = false

  async function start(order: Order): Promise<Shell> {
    file ??= findProgram(["bash", "sh"])
    if (!file) throw new NotStarted("there is no bash or sh on PATH")
    if (order.command.includes("\0")) throw new NotStarted("it has a NUL byte")
    if (!statSync(order.cwd, { throwIfNoEntry: false })?.isDirectory())
      throw new NotStarted(`${JSON.stringify(order.cwd)} is not a folder`)
    places ??= order.policy && createPlaces()
    if (order.policy) await (await places)?.use(order.policy)
    if (count === 0) listen()
    const mark = `${tag}.${++count}`
    const shell = await startShell({ file, mark, order, pipes })
    running.add(shell)
    // Ended while it was starting.
    if (ended) void shell.stop()
    else guard?.changed()
    const forget = () => {
      running.delete(shell)
      if (order.signal) endLeftovers(mark, order.signal)
      if (!ended) guard?.changed()
    }
    shell.ended.then(forget, forget)
    return shell
  }

  async function end() {
    ended = true
    await Promise.all([...running].map((shell) => shell.stop()))
    if (count > 0) await Processes.endMarked(isOurs)
    if (count > 0) unlisten()
    await guard?.end()
    await (await places)?.remove()
    await pipes.close()
  }

  // One listener per Instance is no leak.
  function listen() {
    process.setMaxListeners(process.getMaxListeners() + 1).on("exit", onExit)
  }

  function unlisten() {
    process.off("exit", onExit).setMaxListeners(process.getMaxListeners() - 1)
  }

  return Object.freeze({ start, end })
}

async function createPlaces(): Promise<Places> {
  return (await import("#ability/sandbox/sandbox.ts")).keepPlaces()
}

/** When the turn is aborted, ends processes that a finished command left, such as daemons. They are found by the mark
 * of the command. */
function endLeftovers(mark: string, signal: AbortSignal): void {
  // Stopping the command has ended everything that it started.
  if (signal.aborted) return
  const known = left.get(signal)
  if (known) return void known.add(mark)
  const marks = new Set([mark])
  left.set(signal, marks)
  signal.addEventListener("abort", () => void Processes.endMarked((found) => marks.has(found)), {
    once: true,
  })
}
