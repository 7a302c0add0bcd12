// `vitamin session …`: look at sessions, carry them away, bring them back.
import { readFileSync } from "node:fs"
import * as Session from "#engine/session/session.ts"
import { describeMessage } from "./describe-message.ts"
import { UsageError } from "./exit.ts"
import { type FolderOptions, inInstance } from "./in-instance.ts"
import { safeText } from "./safe-text.ts"

type One = FolderOptions & { id: string }

export async function listSessions(
  options: FolderOptions & { tasks?: boolean | undefined; format: "text" | "json" },
): Promise<void> {
  await inInstance(options, async () => {
    const sessions = await Session.list({ tasks: options.tasks === true })
    if (options.format === "json") return print(JSON.stringify(sessions, null, 2))
    if (!sessions.length) return print("No session in this project yet.")
    for (const { id, status, time, title } of sessions)
      print(`${id}  ${new Date(time.updated).toISOString().slice(0, 16)}  ${status.padEnd(11)}  ${title}`)
  })
}

export async function showSession(
  options: One & { all?: boolean | undefined; format: "text" | "json" },
): Promise<void> {
  await inInstance(options, async () => {
    const session = await Session.get(options.id)
    const messages = await Session.messages(options.id, { all: options.all === true })
    if (options.format === "json") return print(JSON.stringify({ session, messages }, null, 2))
    const { usage, model, status, directory, mode, branch } = session
    print(`${session.id}  ${session.title}`)
    print(`${status}, ${model ?? "no model yet"}, ${directory}`)
    if (mode !== "act" || branch !== "main") print(`${mode} mode, branch ${branch}`)
    print(`${usage.input} tokens in, ${usage.output} out, $${usage.cost.toFixed(4)}\n`)
    const { start, compaction } = options.all ? { start: 0 } : Session.window(messages)
    if (start > 0)
      print(`(${start} earlier messages, which --all shows, are summed up)\n${compaction?.summary ?? ""}\n`)
    for (const message of messages.slice(start)) print(describeMessage(message))
  })
}

export async function forkSession(options: One & { message?: string | undefined }): Promise<void> {
  await inInstance(options, async () => print((await Session.fork(options.id, options.message)).id))
}

export async function exportSession(options: One & { format: "json" | "markdown" }): Promise<void> {
  await inInstance(options, async () =>
    print(
      options.format === "markdown"
        ? await Session.exportMarkdown(options.id)
        : JSON.stringify(await Session.export(options.id), null, 2),
    ),
  )
}

export async function importSession(options: FolderOptions & { file: string }): Promise<void> {
  const data = parse(options.file)
  await inInstance(options, async () => print((await Session.import(data)).id))
}

export async function setSessionMode(options: One & { mode: "plan" | "act" }): Promise<void> {
  await inInstance(options, async () => {
    const { id, mode } = await Session.setMode(options.id, options.mode)
    print(`${id}: ${mode}`)
  })
}

export async function compactSession(options: One): Promise<void> {
  await inInstance(options, async () => {
    const before = (await Session.messages(options.id)).at(-1)
    await Session.compact(options.id)
    const last = (await Session.messages(options.id)).at(-1)
    const isDone = last?.type === "system_control" && last.id !== before?.id
    print(isDone ? Session.describeControl(last.data) : "There is nothing to gain by a compaction yet.")
  })
}

export async function removeSession(options: One): Promise<void> {
  await inInstance(options, async () => {
    await Session.remove(options.id)
    print(`Removed: ${options.id}`)
  })
}

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file === "-" ? 0 : file, "utf8"))
  } catch (error) {
    throw new UsageError(`${file} cannot be read as JSON: ${(error as Error).message}`)
  }
}

function print(text: string) {
  process.stdout.write(`${process.stdout.isTTY ? safeText(text) : text}\n`)
}
