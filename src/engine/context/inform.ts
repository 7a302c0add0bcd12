// Adds notes for the model: rules, skills, a plan. Each note is a system message at the end of the history, so that
// prompt caches stay valid, and is stored like any other message, so that it is known after a restart.

import { append, lastId } from "#engine/record/append.ts"
import type { Run } from "#engine/run/run.ts"
import * as Secret from "#kernel/process/secret.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import * as Message from "#knowledge/message/message.ts"
import { insideTag } from "#util/parse/inside-tag.ts"

export type Note = { kind: "rule" | "skill" | "plan"; name: string; text: string }

const openings: Record<Note["kind"], (name: string) => string> = {
  rule: (name) => `From the project's own instructions, ${name}:`,
  skill: (name) => `Of the skills here, ${name}:`,
  plan: () => "The plan of this session as it stands:",
}

/** A note whose last text the model still sees is not added again. */
export function inform(run: Pick<Run, "session" | "progress">, notes: readonly Note[]): void {
  if (!notes.length) return
  const { id: sessionId, branch } = run.session
  const said = new Map(Memory.shortTerm(sessionId).window().flatMap(saidIn))
  for (const { kind, name, text } of notes) {
    // Compared in its stored form, which is known after a restart.
    const words = Secret.redact(`${openings[kind](JSON.stringify(name))}\n${insideTag(kind, text)}`)
    const message = Message.make({
      sessionId,
      parentId: lastId(run),
      branch,
      type: "text",
      data: { role: "system", parts: [{ type: "text", text: words }], origin: { kind, name } },
    })
    const key = `${kind} ${name}`
    if (said.get(key) === words) continue
    said.set(key, words)
    append(run, message)
  }
}

/** The notes of a kind that the model still sees, by name. */
export function informed(sessionId: string, kind: Note["kind"]): Set<string> {
  const window = Memory.shortTerm(sessionId).window()
  return new Set(
    window.flatMap((message) => {
      const origin = message.type === "text" ? message.data.origin : undefined
      return origin?.kind === kind ? [origin.name] : []
    }),
  )
}

/** The kind, name and text of a note message. */
function saidIn(message: Message.Info): [string, string][] {
  if (message.type !== "text" || !message.data.origin) return []
  const { origin, parts } = message.data
  return [[`${origin.kind} ${origin.name}`, parts.map(({ text }) => text).join("\n")]]
}
