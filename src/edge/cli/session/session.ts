// `vitamin session …`: show, fork, export, import and remove sessions.
import { readFileSync } from "node:fs"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import * as Session from "#engine/session/session.ts"
import { Instance } from "#kernel/instance.ts"
import { ownCommand } from "#util/own-command.ts"
import { describeMessage } from "./describe-message.ts"
import { findSession } from "./find-session.ts"
import { sessionLines, shortId } from "./session-lines.ts"

type One = FolderOptions & { id?: string | undefined }

const usualLimit = 50

export async function listSessions(
  options: FolderOptions & {
    tasks?: boolean | undefined
    limit?: number | undefined
    all?: boolean | undefined
    format: "text" | "json"
  },
): Promise<void> {
  const { limit = options.all || options.format === "json" ? undefined : usualLimit } = options
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
    throw new UsageError("--limit is a whole number from 1 on.")
  await inInstance(options, async () => {
    await Session.recover()
    // One more than is shown tells whether there are others.
    const found = await Session.list({ tasks: options.tasks === true, limit: limit && limit + 1 })
    const sessions = found.slice(0, limit)
    if (options.format === "json") return print(JSON.stringify(sessions, null, 2))
    if (!sessions.length) return say("No session in this project yet.")
    for (const line of sessionLines(sessions, Instance.worktree, process.stdout.columns || undefined))
      say(line)
    if (found.length > sessions.length)
      process.stderr.write("There are older ones: --all shows them, --limit N more of them.\n")
  })
}

export async function showSession(
  options: One & { all?: boolean | undefined; format: "text" | "json" },
): Promise<void> {
  await inInstance(options, async () => {
    await Session.recover()
    const session = await findSession(options.id)
    const messages = await Session.messages(session.id, { all: options.all === true })
    if (options.format === "json") return print(JSON.stringify({ session, messages }, null, 2))
    const { usage, fallbackModel, model = fallbackModel, status, directory, mode, branch } = session
    say(`${session.id}  ${session.title}`)
    say(`${status}, ${model ?? "no model chosen"}, ${directory}`)
    if (mode !== "act" || branch !== "main") say(`${mode} mode, branch ${branch}`)
    say(tokensOf(usage))
    for (const line of await agentLines(session.id)) say(line)
    say("")
    const { start, compaction } = options.all ? { start: 0 } : Session.window(messages)
    if (start > 0)
      say(`(${start} earlier messages, which --all shows, are summarised)\n${compaction?.summary ?? ""}\n`)
    for (const message of messages.slice(start)) say(describeMessage(message))
    for (const { text, reason } of session.skipped ?? []) say(`(not run, since ${reason}) ${text}`)
  })
}

function tokensOf({ input, output, cost }: Pick<Session.Info["usage"], "input" | "output" | "cost">): string {
  return `${input} tokens in, ${output} out${cost ? `, $${cost.toFixed(4)}` : ""}`
}

/** A line for each agent that answered, if tasks of other agents are part of the sum. */
async function agentLines(sessionId: string): Promise<string[]> {
  const { rows } = await Session.cost(sessionId)
  const agents = Map.groupBy(rows, ({ agent }) => agent)
  if (agents.size < 2) return []
  return [...agents].map(([agent, list]) => {
    const sum = (name: "input" | "output" | "cost") => list.reduce((all, row) => all + row[name], 0)
    return `  ${agent}: ${tokensOf({ input: sum("input"), output: sum("output"), cost: sum("cost") })}`
  })
}

export async function forkSession(options: One & { message?: string | undefined }): Promise<void> {
  await inInstance(options, async () => {
    const { id } = await findSession(options.id)
    printNew("The copy", (await Session.fork(id, options.message)).id)
  })
}

export async function exportSession(options: One & { format: "json" | "markdown" }): Promise<void> {
  await inInstance(options, async () => {
    const { id } = await findSession(options.id)
    if (options.format === "markdown") return print(await Session.exportMarkdown(id))
    print(JSON.stringify(await Session.export(id), null, 2))
  })
}

export async function importSession(options: FolderOptions & { file: string }): Promise<void> {
  const data = parse(options.file)
  await inInstance(options, async () => printNew("The imported session", (await Session.import(data)).id))
}

/** `session mode plan` means the newest session, `session mode ID plan` another one. */
export async function setSessionMode(
  options: FolderOptions & { id: string; mode?: "plan" | "act" | undefined },
): Promise<void> {
  const { id, mode } = options
  const wanted = mode ?? id
  if (wanted !== "plan" && wanted !== "act")
    throw new UsageError(`Name the mode, plan or act: ${ownCommand} session mode [id] plan`)
  await inInstance(options, async () => {
    const session = await findSession(mode ? id : undefined)
    await Session.setMode(session.id, wanted)
    if (process.stdout.isTTY) say(`The mode of ${shortId(session.id)} is now ${wanted}.`)
    else print(`${session.id}: ${wanted}`)
  })
}

export async function compactSession(options: One): Promise<void> {
  await inInstance(options, async () => {
    const { id } = await findSession(options.id)
    const before = (await Session.messages(id)).at(-1)
    await Session.compact(id)
    const last = (await Session.messages(id)).at(-1)
    const isDone = last?.type === "system_control" && last.id !== before?.id
    print(isDone ? Session.describeControl(last.data) : "There is nothing to gain by a compaction yet.")
  })
}

export async function shareSession(
  options: FolderOptions & {
    id: string
    name: string
    role: "reader" | "member"
    remove?: boolean | undefined
  },
): Promise<void> {
  const { name, role, remove = false } = options
  await inInstance(options, async () => {
    const { Audit, PersonalToken } = await import("#edge/server/people.ts")
    const { id } = await findSession(options.id)
    if (!remove) await PersonalToken.get(name)
    await Session.share(id, { name, role: remove ? undefined : role })
    await Audit.append({
      action: remove ? "session share --remove" : "session share",
      target: id,
      result: "ok",
    })
    print(remove ? `${name} has no share of ${id} any more.` : `${name} is ${role} of ${id}.`)
  })
}

export async function removeSession(options: FolderOptions & { id: string }): Promise<void> {
  await inInstance(options, async () => {
    const { id } = await findSession(options.id)
    await Session.remove(id)
    print(`Removed: ${id}`)
  })
}

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === "-" ? 0 : file, "utf8"))
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new UsageError(`${file} is not JSON. To export a session: ${ownCommand} session export ID > FILE`)
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(
      code === "ENOENT" ? `The file ${file} does not exist.` : `${file} cannot be read: ${message}`,
    )
  }
}

/** A pipe gets only the id. */
function printNew(what: string, id: string) {
  const short = shortId(id)
  if (process.stdout.isTTY) say(`${what} is ${short}. Continue it: ${ownCommand} run --session ${short} "…"`)
  else print(id)
}

/** Prints data. A pipe gets it unchanged. */
function print(text: string) {
  process.stdout.write(`${process.stdout.isTTY ? safeText(text) : text}\n`)
}

/** Prints text for a person. It is escaped for a pipe too, which may end in a pager. */
function say(text: string) {
  process.stdout.write(`${wrapList(safeText(text))}\n`)
}
