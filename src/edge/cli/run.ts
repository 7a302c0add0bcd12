// `vitamin run`: a message to a session of this folder, the answer as it comes, and an exit code.
import * as Session from "#engine/session/session.ts"
import { exitCodes, UsageError } from "./exit.ts"
import { type FolderOptions, inInstance } from "./in-instance.ts"
import { onSignal } from "./on-signal.ts"
import { printRun } from "./print-run.ts"
import { readStdin } from "./read-stdin.ts"

type Options = FolderOptions & {
  message?: string[] | undefined
  model?: string | undefined
  agent?: string | undefined
  session?: string | undefined
  continue?: boolean | undefined
  format: "text" | "json"
  maxSteps?: number | undefined
  maxCost?: number | undefined
  timeout?: number | undefined
}

export async function run(options: Options): Promise<void> {
  const text = [(options.message ?? []).join(" ").trim(), await readStdin()].filter(Boolean).join("\n\n")
  if (!text) throw new UsageError('Say what to do: vitamin run "fix the login bug"')
  await inInstance(options, async () => {
    const session = await sessionFor(options)
    const stopPrinting = printRun(session.id, options.format)
    let signalled = false
    const stopListening = onSignal(() => {
      signalled = true
      Session.abort(session.id)
    })
    try {
      await Session.prompt({
        sessionId: session.id,
        text,
        ...(options.model ? { model: options.model } : {}),
        ...(options.agent ? { agent: options.agent } : {}),
        ...(options.maxSteps ? { maxSteps: options.maxSteps } : {}),
        ...(options.maxCost ? { maxCost: options.maxCost } : {}),
        ...(options.timeout ? { timeout: options.timeout * 1000 } : {}),
      })
    } catch (error) {
      if (!(error instanceof Session.Interrupted && signalled)) throw error
      process.stderr.write(`vitamin: interrupted; go on with: vitamin run --session ${session.id} "…"\n`)
      process.exitCode = exitCodes.interrupted
    } finally {
      stopListening()
      stopPrinting()
    }
  })
}

async function sessionFor(options: Options): Promise<Session.Info> {
  if (options.session) return Session.get(options.session)
  if (options.continue) {
    const [latest] = await Session.list()
    if (!latest) throw new UsageError("There is no session to continue in this project.")
    return latest
  }
  return Session.create({
    ...(options.agent ? { agent: options.agent } : {}),
    ...(options.model ? { model: options.model } : {}),
  })
}
