// Runs a command of the person in a session's folder. The command and its output become a message, so that the model sees
// them with the next prompt. No rule judges it: the person typed it.
import * as KeptFolder from "#ability/call/kept-folder.ts"
import { runCommand } from "#ability/shell/exec.ts"
import { createRecord, type Part } from "#ability/shell/record.ts"
import { ofInstance } from "#ability/shell/shells.ts"
import * as Tool from "#ability/tool/tool.ts"
import * as Queue from "#engine/queue/queue.ts"
import { recentHistory, tipAt } from "#engine/record/history.ts"
import { keepCheckout, refreshCheckout } from "#engine/record/if-checkout.ts"
import { titleOf } from "#engine/record/prompt-part.ts"
import type { Tip } from "#engine/record/session-info.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Bus from "#kernel/bus/bus.ts"
import * as Message from "#knowledge/message/message.ts"
import * as MessageStore from "#knowledge/message/message-store.ts"
import { createId } from "#util/id.ts"
import { insideTag } from "#util/parse/inside-tag.ts"

type Ran = { part: Part; exitCode: number | null; timedOut: boolean }
export type ShellResult = { messageId: string; output: string; exitCode: number | null; timedOut: boolean }

/** Clients know by it that a `tool.progress` belongs to no call of the model. */
const shellCall = "shell"
/** Milliseconds. */
const defaultTimeout = 120_000

/** A busy session throws `Session.Busy`; `Session.abort` ends the command. */
export function runShell(
  sessionId: string,
  { command, timeout = defaultTimeout }: { command: string; timeout?: number },
): Promise<ShellResult> {
  return Queue.enter({ sessionId, whenBusy: "refuse" }, async ({ signal }) => {
    let tip: Tip | undefined
    return Queue.whileBusy({ sessionId, after: () => ({ tip }) }, async (session, before) => {
      await refreshCheckout()
      const ran = await run(sessionId, { command, timeout, signal }).catch((error) => {
        throw signal.aborted ? new Queue.Interrupted(sessionId, signal) : error
      })
      await keepCheckout()
      const { part, ...ended } = ran
      const { id: messageId } = await store(session, { command, ...ran }, before)
      tip = tipAt(session, messageId)
      const title = titleOf([{ type: "text", text: `! ${command}` }])
      await SessionRecord.update(session, (draft) => {
        draft.title ||= title
      })
      return { messageId, output: part.text, ...ended }
    })
  })
}

async function run(
  sessionId: string,
  { command, timeout, signal }: { command: string; timeout: number; signal: AbortSignal },
): Promise<Ran> {
  const { cwd } = KeptFolder.get(sessionId)
  const callId = createId(shellCall)
  const report = (text: string) => void Bus.publish(Tool.Progress, { sessionId, callId, text })
  const record = createRecord({ sessionId, callId, report })
  report(`! ${command}\n`)
  const ran = await runCommand({ command, cwd, timeout, signal, shells: ofInstance(), record })
  KeptFolder.update(sessionId, { from: cwd, to: ran.cwd ?? cwd })
  const { exitCode, timedOut } = ran
  const note = timedOut ? "(its time was up)" : ""
  return { part: await record.cut(note), exitCode, timedOut }
}

async function store(
  session: SessionRecord.Info,
  { command, part, exitCode }: Ran & { command: string },
  tip: Tip | undefined,
): Promise<Message.Info> {
  const { id: sessionId, branch } = session
  const end = exitCode === 0 ? "" : ` It ended with exit code ${exitCode ?? "none"}.`
  const text = [
    `I ran this command in the project:${end}`,
    insideTag("command", command),
    insideTag("output", part.text || "(no output)"),
  ].join("\n")
  const message = Message.make({
    sessionId,
    parentId: (await recentHistory({ id: sessionId, branch }, tip)).at(-1)?.id ?? null,
    branch,
    type: "text",
    data: {
      role: "user",
      parts: [{ type: "text", text }],
      origin: { kind: "shell", name: command, ...(part.colors ? { colors: part.colors } : {}) },
    },
  })
  await MessageStore.write(message)
  return message
}
