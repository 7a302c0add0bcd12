// `vitamin session diff`, `revert` and `redo`: show, undo and redo the changes of a session.
import { redactKeys } from "#ability/provider/environment.ts"
import * as Snapshot from "#ability/snapshot/snapshot.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { wrapLines } from "#edge/cli/terminal/wrap-text.ts"
import * as Session from "#engine/session/session.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { ownCommand } from "#util/own-command.ts"
import { findSession } from "./find-session.ts"
import { shortId } from "./session-lines.ts"

type One = FolderOptions & { id?: string | undefined }

export async function diffSession(
  options: One & { since?: string | undefined; stat?: boolean | undefined },
): Promise<void> {
  await inInstance(options, async () => {
    const { since, stat } = options
    const { id } = await findSession(options.id)
    const { text, conflicts, notes } = await Session.diff(id, { since, stat })
    process.stdout.write(process.stdout.isTTY ? forTerminal(text) : text)
    if (!text) process.stdout.write("Nothing is changed.\n")
    await warnIfOff()
    for (const { path, reason } of conflicts)
      process.stderr.write(`${path.replaceAll(/\p{Cc}/gu, "?")}: ${reason}\n`)
    writeNotes(notes)
  })
}

/** A file may contain a key, and characters that control a terminal. A pipe gets the patch unchanged. */
function forTerminal(text: string): string {
  redactKeys()
  return safeText(Secret.redact(text))
}

type Restoring = One & { force?: boolean | undefined; preview?: boolean | undefined }

export async function revertSession(options: Restoring & { to?: string | undefined }): Promise<void> {
  await inInstance(options, async () => {
    const { force, preview } = options
    const { id } = await findSession(options.id)
    const reverted = await Session.revert(id, options.to ?? (await lastPrompt(id)), { force, preview })
    await report(reverted, options)
    const { messageId } = reverted
    const undo = options.to ? `revert ${shortId(id)} --to ${messageId}` : `redo ${shortId(id)}`
    if (messageId) print(`To undo this: ${ownCommand} session ${undo}`)
  })
}

export async function redoSession(options: Restoring): Promise<void> {
  await inInstance(options, async () => {
    const { force, preview } = options
    const { id } = await findSession(options.id)
    await report(await Session.redo(id, { force, preview }), options)
  })
}

async function report(
  { restored, removed, conflicts, notes }: Session.Reverted,
  { preview }: Restoring,
): Promise<void> {
  for (const path of restored) print(`${preview ? "would restore" : "restored"}  ${path}`)
  for (const path of removed) print(`${preview ? "would remove" : "removed"}  ${path}`)
  for (const { path, reason } of conflicts) print(`! ${path}: ${reason}`)
  if (preview && conflicts.length) print("Because of these it would be refused without --force.")
  if (!restored.length && !removed.length) print("No file has to be changed.")
  await warnIfOff()
  writeNotes(notes)
}

async function lastPrompt(sessionId: string): Promise<string> {
  const messages = await Session.messages(sessionId)
  const prompt = messages.findLast((message) => message.type === "text" && message.data.role === "user")
  if (prompt) return prompt.id
  const id = shortId(sessionId)
  const last = messages.findLast(
    (message) => message.type === "system_control" && message.data.control === "revert",
  )
  const redo = last && `To redo what was undone last: ${ownCommand} session redo ${id}`
  throw new UsageError([`Nothing is left to undo in ${id}.`, redo].filter(Boolean).join(" "))
}

function writeNotes(notes: readonly string[]): void {
  for (const note of notes) process.stderr.write(`${wrapLines(`Note: ${note}.`)}\n`)
}

async function warnIfOff(): Promise<void> {
  const reason = await Snapshot.offReason()
  if (reason) process.stderr.write(`What was changed here is not known: ${reason}.\n`)
}

/** The name of a file may contain terminal control characters. */
function print(text: string): void {
  process.stdout.write(`${text.replaceAll(/\p{Cc}/gu, "?")}\n`)
}
