// `vitamin run`: sends a prompt to a session of this folder, prints the answer, and sets the exit code.

import type { AgentDefinition } from "#ability/agent/agent.ts"
import { rulesOf } from "#edge/cli/option/options.ts"
import type { PromptOptions } from "#edge/cli/option/prompt-options.ts"
import { exitCodes, UsageError } from "#edge/cli/process/exit.ts"
import { inInstance, onSignal } from "#edge/cli/process/in-instance.ts"
import { readStdin } from "#edge/cli/process/read-stdin.ts"
import { findSession, newestSession } from "#edge/cli/session/find-session.ts"
import { createAgents } from "#edge/sandbox/agents.ts"
import { checkModel } from "#engine/model/choose-model.ts"
import { chooseAgent, createFor } from "#engine/record/session-record.ts"
import type { OutputSchema } from "#engine/run/run.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import { attachmentsOf } from "./attachments-of.ts"
import { printRun } from "./print-run.ts"
import type { Outcome } from "./run-lines.ts"
import { listDenied } from "./run-summary.ts"

type Options = PromptOptions & {
  prompt?: string | undefined
  refresh?: boolean | undefined
  format: "text" | "json"
  outputSchema?: string | undefined
}

export async function run(given: Options): Promise<void> {
  const piped = await readStdin()
  const options = isEmpty(given) && !piped ? { ...given, message: [await askForPrompt()] } : given
  if ([...(options.file ?? []), ...(options.image ?? [])].some((value) => !value.trim()))
    throw new UsageError("--file and --image need a name, such as --file src/app.ts:10-20")
  const outputSchema = await schemaOf(options)
  const rules = await rulesOf(options)
  const asks = options.yes ? "once" : hasPerson() ? "wait" : "deny"
  // The listener stays during the shutdown: without it, a second signal would leave processes behind.
  let stopListening = () => {}
  await inInstance(options, async () => {
    // First, because a sandbox starts beside the rest.
    const host = await createAgents(options)(Instance.directory)
    const { message, parts: fromServer } = await wordsOf(options)
    const called = await commandIn(message)
    const isFile = called !== undefined && "segments" in called
    const parts = [...fromServer, ...(isFile ? [{ type: "text" as const, text: message }] : (called ?? []))]
    const text = [called ? "" : message, piped].filter(Boolean).join("\n\n")
    const known = await knownSession(options)
    const attachments = await attachmentsOf(options)
    await refuseUnusable(attachments, { ...options, known, rules, asks })
    const agent = await refuseModel(options, known)
    await host.ready?.()
    const session = known ? await inMode(known, options) : await newSession(agent, options)
    const printing = printRun(session, { format: options.format, isValue: outputSchema !== undefined })
    const stopAsking =
      asks === "wait" ? (await import("#edge/cli/terminal/ask-person.ts")).askPerson() : () => {}
    const denied = listDenied()
    let signalled: number | undefined
    let isInterrupted = false
    let isOver = false
    const outcome: Omit<Outcome, "exitCode"> = {}
    stopListening = onSignal((exitCode) => {
      if (isOver) return
      signalled = exitCode
      Session.abort(session.id)
    })
    try {
      const prompt = host.process({
        sessionId: session.id,
        parts: [...parts, { type: "text", text }, ...attachments],
        // Piped text and text of a server come from elsewhere, so `@path` in them is no reference. The session fills a
        // command file, because its shell lines need the rights of a session.
        ...(message || parts.length ? { mentionsIn: message, isText: !isFile } : {}),
        asks,
        rules,
        ...(options.model ? { model: options.model } : {}),
        ...(options.agent ? { agent: options.agent } : {}),
        ...(options.refresh ? { refresh: true } : {}),
        ...(options.maxSteps ? { maxSteps: options.maxSteps } : {}),
        ...(options.maxCost ? { maxCost: options.maxCost } : {}),
        ...(options.timeout ? { timeout: options.timeout * 1000 } : {}),
        ...(outputSchema ? { outputSchema } : {}),
      })
      const answer = await prompt.answer()
      outcome.answer = answer
      if (outputSchema) outcome.output = await outputOf(outputSchema, answer)
      // The reason was reported as a notice, or is the answer itself.
      if (Message.cutReason(answer) || Message.isCannot(answer)) process.exitCode = exitCodes.failed
    } catch (error) {
      outcome.error = error
      isInterrupted = error instanceof Session.Interrupted && signalled !== undefined
      if (!isInterrupted) throw error
    } finally {
      denied.stop()
      stopAsking()
      isOver = true
      printing.stop(isInterrupted)
      if (!outcome.error && signalled === undefined) denied.report()
      if (isInterrupted) process.exitCode = signalled
      const code = outcome.error && !isInterrupted ? exitCodes.failed : (process.exitCode ?? exitCodes.done)
      printing.end({ ...outcome, exitCode: Number(code) })
    }
  }).finally(() => stopListening())
}

async function schemaOf({ outputSchema }: Options): Promise<OutputSchema | undefined> {
  if (outputSchema === undefined) return undefined
  return (await import("./read-output-schema.ts")).readOutputSchema(outputSchema)
}

/** The prompt has checked that the answer fits. */
async function outputOf(schema: OutputSchema, answer: Message.Info): Promise<unknown> {
  const read = (await import("#engine/run/output-schema.ts")).readOutput(schema, Message.textOf(answer))
  return "value" in read ? read.value : undefined
}

function isEmpty({ message = [], file, image, prompt }: Options): boolean {
  return !message.join("").trim() && !file?.length && !image?.length && prompt === undefined
}

/** `vitamin run` without a prompt asks the person at the terminal. */
async function askForPrompt(): Promise<string> {
  const { converse } = await import("#edge/cli/terminal/converse.ts")
  const signal = new AbortController().signal
  const asked = hasPerson() ? await converse(signal, (ask) => ask("What should I do? ")) : undefined
  if (asked?.trim()) return asked
  throw new UsageError(`Say what to do: ${ownCommand} run "fix the login bug"`)
}

/** The person's text, and the text that a server provides for it. */
async function wordsOf({ prompt, message = [] }: Options) {
  if (prompt === undefined) return { message: message.join(" ").trim(), parts: [] }
  return (await import("./read-prompt.ts")).readPrompt(prompt, message)
}

/** Called before a session is created: a misspelt command must not leave an empty session. */
async function commandIn(message: string) {
  if (!message.startsWith("/")) return undefined
  const { expandCommand } = await import("#engine/attach/expand-command.ts")
  return expandCommand(message).catch((error) => {
    const isUsage =
      error instanceof NamedError && /^(Session\.|Agent\.NotFound$|MCP\.InvalidArguments$)/.test(error.name)
    throw isUsage ? new UsageError(error.message) : error
  })
}

/** Called before a session is created: a misspelt file must not leave an empty session or cost a request. */
async function refuseUnusable(
  attachments: Session.PromptPart[],
  who: Pick<Options, "agent" | "mode"> &
    Required<Pick<Session.Input, "rules" | "asks">> & { known: Session.Info | undefined },
): Promise<void> {
  if (!attachments.length) return
  const { checkAttachments } = await import("#engine/attach/check-attachments.ts")
  const problems = await checkAttachments(attachments, who)
  if (problems.length) throw new UsageError(problems.join("\n"))
}

/** Called before a session is created: a model without a key must not leave an empty session. Returns the agent. */
async function refuseModel(options: Options, known: Session.Info | undefined): Promise<AgentDefinition> {
  const agent = await chooseAgent(options.agent, known?.agent)
  await checkModel(agent, options.model, known?.model)
  return agent
}

async function inMode(known: Session.Info, { mode }: Options): Promise<Session.Info> {
  return mode && known.mode !== mode ? Session.setMode(known.id, mode) : known
}

function newSession(agent: AgentDefinition, { model, mode }: Options): Promise<Session.Info> {
  return createFor(agent, { ...(model ? { model } : {}), ...(mode ? { mode } : {}) })
}

async function knownSession(options: Options): Promise<Session.Info | undefined> {
  if (options.session !== undefined) return findSession(options.session)
  return options.continue ? newestSession() : undefined
}

/** Whether a person is at both ends, stdin and stderr. */
function hasPerson(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}
