// The record of a session: its schema, the errors about it, and which process works on it.
import { z } from "zod"
import { Instance } from "#kernel/instance.ts"
import * as Worker from "#kernel/worker/worker.ts"
import type * as Message from "#knowledge/message/message.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import { isRunning, ownLife } from "#util/process.ts"
import { SkippedPrompt } from "./prompt-part.ts"

export const Status = z.enum(["idle", "busy", "waiting", "interrupted", "error"])
export type Status = z.infer<typeof Status>

/** Tokens and money that a session has used so far. */
export const Totals = z.object({
  input: about("Tokens sent.", z.number().default(0)),
  output: about("Tokens of answers.", z.number().default(0)),
  reasoning: about("Tokens of reasoning, if the provider reports them.", z.number().default(0)),
  cacheRead: about("Tokens sent that the provider had cached.", z.number().default(0)),
  cacheWrite: about("Tokens that the provider added to its cache.", z.number().default(0)),
  cost: about("In US dollars, as far as prices are known.", z.number().default(0)),
})
export type Totals = z.infer<typeof Totals>

export const Failure = z.object({
  name: about("Name of the error, such as `Provider.MissingKey`.", z.string()),
  message: about("What failed, and what would work.", z.string()),
})

/** The process that works on a session. Without a database, the start time distinguishes it from a later process with the same id. */
export const Owner = z.object({
  pid: about("Number of the process.", z.number().int()),
  started: about("When it started, as the system reports it.", z.string()),
  directory: z.string().optional().describe("the instance; one process can have several"),
  worker: z.string().optional().describe("the worker, if several share a database"),
})
export type Owner = z.infer<typeof Owner>

/** The last message of a branch, stored while no prompt runs. A prompt removes it when it begins and writes a new one at
 * its end, so after a crash it is missing rather than wrong. */
export const Tip = z.object({
  branch: about("Branch whose last message it is.", z.string()),
  id: about("The message.", z.string()),
  mark: z
    .string()
    .describe("new each time; a different mark shows that another process worked on the session"),
})
export type Tip = z.infer<typeof Tip>

export const Info = z.object({
  id: about("The session.", z.string()),
  projectId: about("Project that it belongs to; work trees of one repository share it.", z.string()),
  directory: about("Folder that it works in.", z.string()),
  person: about("Person who created it; missing: the owner of the server.", z.string().optional()),
  shared: about(
    "Persons who may see it (`reader`) or also prompt it (`member`), by name.",
    z
      .record(z.string(), z.enum(["reader", "member"]))
      .optional()
      .catch(undefined),
  ),
  title: about("Title, made from the first prompt.", z.string().default("")),
  agent: about("Agent that does the work.", z.string().default("build")),
  model: about("Model that answers, as `provider/model`.", z.string().optional()),
  fallbackModel: about(
    "Model that answered the last prompt, if nobody named one; the next prompt chooses again.",
    z.string().optional(),
  ),
  mode: about("`plan`: nothing is changed.", z.enum(["act", "plan"]).default("act")),
  branch: about("Branch that prompts continue.", z.string().default("main")),
  parentId: about("Session that this one was forked from.", z.string().optional()),
  taskOf: about(
    "Session and call that this session does a task for.",
    z
      .object({
        sessionId: about("That session.", z.string()),
        callId: about("Its call of `subtask` or `delegate`.", z.string()),
        step: about("Step of its plan that this session does.", z.string().optional()),
      })
      .optional(),
  ),
  remote: about(
    "Task of the remote agent that does the work of this session.",
    z
      .object({
        taskId: about("The task, as the remote agent names it.", z.string()),
        contextId: about("Its context there, which later prompts continue.", z.string()),
        text: about("The prompt that began it, at most 1,000 characters.", z.string()),
        isOpen: about("It has not ended, as far as is known here.", z.boolean()),
      })
      .optional()
      .catch(undefined),
  ),
  status: about("What it is doing; `waiting`: for a person to answer.", Status.default("idle")),
  error: about("Why the last prompt failed.", Failure.optional()),
  tip: about("Its last message; missing while a prompt runs.", Tip.optional().catch(undefined)),
  owner: about("Process that is working on it.", Owner.optional()),
  skipped: about("Accepted prompts that did not run, until sent again.", z.array(SkippedPrompt).optional()),
  usage: about("What it has used so far.", Totals.prefault({})),
  changed: about(
    "Files that its tools and tasks changed, at most 200; an undo removes them from the list.",
    z.array(z.string()).optional().catch(undefined),
  ),
  offered: about(
    "Tools of servers and of the project that its model is sent, in the order in which they came.",
    z.array(z.string()).optional().catch(undefined),
  ),
  toolServers: about(
    "Servers that the description of `tool_search` names; it stays as it was first sent.",
    z.array(z.string()).optional().catch(undefined),
  ),
  time: about(
    "Times in milliseconds since 1970.",
    z.object({
      created: about("When it was created.", z.number()),
      updated: about("When it last changed.", z.number()),
    }),
  ),
  metadata: about("Data that other programs store with it.", z.record(z.string(), z.unknown()).default({})),
})
export type Info = z.infer<typeof Info>

/** The beginning of a prompt, by which the open task of a remote agent is found again. */
export function remoteText(prompt: string): string {
  return prompt.slice(0, 1_000)
}

export class NotFound extends NamedError {
  constructor(sessionId: string) {
    super(
      "Session.NotFound",
      `Session ${sessionId} does not exist. "${ownCommand} session list" shows those of this project.`,
      {
        sessionId,
      },
    )
  }
}

export class Busy extends NamedError {
  constructor(sessionId: string, where: string) {
    super("Session.Busy", `Session ${sessionId} is busy ${where}.`, { sessionId })
  }
}

export class Invalid extends NamedError {
  constructor(sessionId: string, reason: string) {
    super("Session.Invalid", `The record of session ${sessionId} is not valid: ${reason}`, { sessionId })
  }
}

export function ownOwner(): Owner {
  const worker = Worker.id()
  return { ...ownLife(), directory: Instance.directory, ...(worker === undefined ? {} : { worker }) }
}

/** Process ids say nothing about other machines, so the database tells which workers are alive (`Worker.alive`). */
export function isAlive(owner: Owner | undefined): boolean {
  if (owner?.worker !== undefined) return Worker.isAlive(owner.worker)
  return owner !== undefined && isRunning(owner)
}

/** Whether the owner is this instance of this process, whose prompts never overlap. */
export function isOwn(owner: Owner | undefined): boolean {
  return isHere(owner) && owner?.directory === Instance.directory
}

/** Whether the owner is an instance of this process. */
export function isHere(owner: Owner | undefined): boolean {
  if (owner?.worker !== undefined) return owner.worker === Worker.id()
  return owner?.pid === process.pid && isRunning(owner)
}

/** The most files in a session record, which is for lists of sessions. The snapshots have all files. */
const maxChanged = 200

export function addChanged(draft: Info, files: Iterable<string> = []): void {
  const all = new Set([...(draft.changed ?? []), ...files])
  if (all.size > 0) draft.changed = [...all].slice(0, maxChanged)
}

export function addUsage(totals: Totals, usage: Message.Usage): void {
  for (const name of Object.keys(totals) as (keyof Totals)[]) totals[name] += usage[name] ?? 0
}
