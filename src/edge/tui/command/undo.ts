// Commands for what the session changed: show it, undo it, redo it; in the files and in the conversation.
import type { Reverted } from "#client/client.ts"
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo, wrapTo } from "#edge/tui/screen/width.ts"
import { diffLines } from "#edge/tui/transcript/diff-lines.ts"
import { type Command, sessionOf } from "./context.ts"
import { isPrompt } from "./message-text.ts"
import { countOf } from "./words.ts"

export const undoCommand: Command = {
  name: "undo",
  about: "undo the last prompt and what it changed",
  argument: "[force]",
  async run(context, rest) {
    const { client, print, view, say } = context
    const { id } = sessionOf(context)
    const prompt = (await client.listMessages({ id })).findLast(isPrompt)
    if (!prompt) return say("nothing is left to undo; /redo redoes")
    const done = await client.revertSession({ id, messageId: prompt.id, force: rest === "force" })
    print(revertedLines(done, "changed back", view()))
    say("/redo redoes it, until you send a prompt")
  },
}

export const redoCommand: Command = {
  name: "redo",
  about: "redo what was undone last, until you send a prompt",
  argument: "[force]",
  async run(context, rest) {
    const { client, print, view } = context
    const { id } = sessionOf(context)
    const done = await client.redoSession({ id, force: rest === "force" })
    print(revertedLines(done, "changed again", view()))
  },
}

export const diffCommand: Command = {
  name: "diff",
  about: "show what the session changed in the files",
  async run(context) {
    const { client, print, view, say } = context
    const { text, files, conflicts, notes } = await client.getDiff({ id: sessionOf(context).id })
    if (!text && !files.length) return say("the session has changed no file")
    const now = view()
    const { columns, paint } = now
    const warnings = [...conflicts.map(({ path, reason }) => `${path}: ${reason}`), ...notes]
    print([
      ...filesOf(text).flatMap(({ title, body }) => [
        paint("strong", cutTo(safeLine(title), columns)),
        ...(body ? diffLines(body, now) : []),
      ]),
      paint("dim", `${countOf(files.length, "file")} changed`),
      ...warnings.flatMap((line) => wrapTo(paint("warning", safeLine(line)), columns, 2)),
    ])
  },
}

/** A unified diff, file by file: the name and the hunks. */
function filesOf(diff: string): { title: string; body: string }[] {
  const parts = diff.split(/^(?=diff --git )/m).filter((part) => part.trim())
  return parts.map((part) => {
    const start = part.search(/^@@ /m)
    const head = start < 0 ? part : part.slice(0, start)
    const name =
      /^\+\+\+ b\/(.*)$/m.exec(head) ?? /^--- a\/(.*)$/m.exec(head) ?? /^diff --git a\/(.*) b\//m.exec(head)
    const isGone = /^\+\+\+ \/dev\/null$/m.test(head)
    const isNew = /^--- \/dev\/null$/m.test(head)
    const title = `${name?.[1] ?? head.trim()}${isGone ? " (removed)" : isNew ? " (new)" : ""}`
    return { title, body: start < 0 ? "" : part.slice(start) }
  })
}

/** The files. The transcript names the prompt. */
function revertedLines(done: Reverted, how: string, { columns, paint }: View): Line[] {
  const { restored, removed, conflicts, notes } = done
  const count = restored.length + removed.length
  const line = (text: string) => cutTo(`  ${safeLine(text)}`, columns)
  return [
    ...wrapTo(count ? `${countOf(count, "file")} ${how}` : "no file had to be changed", columns),
    ...restored.map((path) => paint("dim", line(`restored ${path}`))),
    ...removed.map((path) => paint("dim", line(`removed ${path}`))),
    ...[...conflicts.map(({ path, reason }) => `${path}: ${reason}`), ...notes].flatMap((text) =>
      wrapTo(paint("warning", `  ${safeLine(text)}`), columns, 2),
    ),
  ]
}
