// The `bash` tool: runs a command to its end, or as a background job that later calls read and stop.
import { z } from "zod"
import * as KeptFolder from "#ability/call/kept-folder.ts"
import type { Context, Definition, Need, Output } from "#ability/call/types.ts"
import { reportWithheld } from "#ability/shell/environment.ts"
import { runCommand } from "#ability/shell/exec.ts"
import * as Jobs from "#ability/shell/jobs.ts"
import { createRecord } from "#ability/shell/record.ts"
import { runInTerminal } from "#ability/shell/run-in-terminal.ts"
import { commandPolicy } from "#ability/shell/sandboxed.ts"
import { ofInstance } from "#ability/shell/shells.ts"
import type { Ending } from "#ability/shell/start-shell.ts"
import { NamedError } from "#util/error.ts"
import { waitAtMost } from "#util/wait.ts"
import { descriptions } from "./descriptions.ts"

const defaultTimeout = 120
const maxTimeout = 3_600
/** Milliseconds that a call waits for the first output of a job. */
const moment = 300

const Parameters = z
  .strictObject({
    command: z.string().min(1).optional(),
    timeout: z.int().min(1).max(maxTimeout).optional().describe(`seconds, default ${defaultTimeout}`),
    background: z.boolean().optional(),
    job: z.string().min(1).optional(),
    stop: z.boolean().optional(),
  })
  .refine(({ command, job }) => (command === undefined) !== (job === undefined), "give either command or job")
  .refine(({ job, stop }) => !stop || job !== undefined, "stop needs the job to be stopped")
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { command: "npm test", timeout: 300 },
  arguments: {
    command: "Command line for bash. Either this or `job`.",
    timeout: `Seconds until the command is ended, at most ${maxTimeout}.`,
    background: "Start it as a job, and return its id at once.",
    job: "Job to read new output of.",
    stop: "End the job.",
  },
  limits: `${defaultTimeout} s without \`timeout\`; 20 jobs at a time; a longer output is kept in a file and cut in the middle.`,
}

export const bash = {
  id: "bash",
  routingName: "exec_bash",
  description: descriptions.bash,
  category: "shell",
  parameters: Parameters,
  readOnly: false,
  permission: ({ command }: Args): Need[] =>
    command === undefined ? [] : [{ permission: "bash.execute", target: command }],
  execute,
} satisfies Definition

async function execute(args: Args, context: Context): Promise<Output> {
  const { command, job, timeout } = args
  if (job !== undefined) return readJob({ ...args, job }, context)
  if (args.background) return startJob({ command: command!, timeout }, context)
  return runForeground({ command: command!, timeout: timeout ?? defaultTimeout }, context)
}

async function runForeground(args: { command: string; timeout: number }, context: Context): Promise<Output> {
  const { command, timeout } = args
  const { cwd, note } = KeptFolder.get(context.sessionId)
  const { sessionId, callId, signal: interrupted } = context
  const withheld = await reportWithheld(context)
  const report = (text: string) => (interrupted.aborted ? undefined : context.report?.(text))
  const record = createRecord({ sessionId, callId, report })
  const policy = await commandPolicy()
  const order = { command, cwd, timeout: timeout * 1_000, signal: interrupted, record }
  // The person's editor knows nothing of a sandbox.
  const editor = policy ? undefined : context.editor
  const shown = editor && (await runInTerminal(editor, { ...order, context }))
  const ran = shown ?? (await runCommand({ ...order, policy, shells: ofInstance() }))
  const next = KeptFolder.update(sessionId, { from: cwd, to: ran.cwd ?? cwd })
  const notes = [note, withheld, ...leftovers(ran), next.note]
  if (ran.timedOut) {
    const late = `timed out after ${timeout} s and was ended; raise timeout, or use background: true`
    const { text } = await record.cut(lines([...notes, late]))
    throw new NamedError("Bash.TimedOut", text, { timeout })
  }
  const { text, ...styles } = await record.cut(lines([...notes, howEnded(ran)]))
  const { exitCode, signal, timedOut, duration } = ran
  return {
    text: text || "(no output)",
    ...styles,
    title: titleOf(command, ran),
    data: { exitCode, signal, timedOut, cwd: next.cwd, duration },
  }
}

async function startJob(
  args: { command: string; timeout: number | undefined },
  context: Context,
): Promise<Output> {
  const { command, timeout } = args
  const { cwd, note } = KeptFolder.get(context.sessionId)
  const withheld = await reportWithheld(context)
  const job = await Jobs.create({
    sessionId: context.sessionId,
    command,
    cwd,
    policy: await commandPolicy(),
    timeout: timeout && timeout * 1_000,
    signal: context.signal,
  })
  await waitAtMost(moment, job.shell.ended)
  return showJob(job, [note, withheld])
}

async function readJob(args: Args & { job: string }, context: Context): Promise<Output> {
  const job = Jobs.get(context.sessionId, args.job)
  if (args.stop) await Jobs.stop(job)
  const wait = args.stop ? maxTimeout : args.timeout
  if (wait) await waitAtMost(wait * 1_000, Promise.race([job.shell.ended, aborted(context.signal)]))
  return showJob(job)
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }))
}

async function showJob(job: Jobs.Job, notes: (string | undefined)[] = []): Promise<Output> {
  const { id, command, ending } = job
  const duration = Jobs.durationOf(job)
  const state = ending ? (howEnded(ending) ?? "exit code 0") : `running for ${Math.round(duration / 1_000)} s`
  const part = await job.record.cut(
    lines([...notes, ending?.timedOut && "its timeout was reached", `${id}: ${state}`]),
    ending !== undefined,
  )
  return {
    ...part,
    title: ending ? titleOf(command, ending) : `${shorten(command)} (${id})`,
    data: {
      job: id,
      running: !ending,
      exitCode: ending?.exitCode ?? null,
      signal: ending?.signal ?? null,
      timedOut: ending?.timedOut ?? false,
      ...(job.stopped ? { stopped: true } : {}),
      duration,
    },
  }
}

function leftovers({ left, held }: Ending): string[] {
  const some = left.length > 5 ? [...left.slice(0, 5), `${left.length - 5} more`] : left
  return [
    ...(left.length
      ? [`ended what the command left running: ${some.join(", ")}; start such things with background: true`]
      : []),
    ...(held ? ["a daemon still holds the output; it is no longer read"] : []),
  ]
}

function howEnded({ exitCode, signal, exceeded }: Ending): string | undefined {
  if (exceeded) return `ended: it exceeded the limit of ${exceeded} of its sandbox`
  if (signal) return `ended by ${signal}`
  return exitCode ? `exit code ${exitCode}` : undefined
}

function titleOf(command: string, { exitCode, signal }: Ending): string {
  const how = signal ? ` (${signal})` : exitCode ? ` (exit ${exitCode})` : ""
  return `${shorten(command)}${how}`
}

function shorten(command: string): string {
  const [line = "", ...more] = command.trim().split("\n")
  return line.length > 80 || more.length ? `${line.slice(0, 80)}…` : line
}

function lines(notes: (string | false | undefined)[]): string {
  return notes
    .filter(Boolean)
    .map((note) => `[${note}]`)
    .join("\n")
}
