// What the model is told beside the person's words: rules, skills, a plan. Each is a message of the system behind what is
// there already, so that prompt caches hold, and it is kept like any other: what was said once is known after a restart.

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

/** One whose last words the model still sees is not said again. */
export function inform(run: Pick<Run, "session" | "progress">, notes: readonly Note[]): void {
  if (!notes.length) return
  const { id: sessionId, branch } = run.session
  const said = new Map(Memory.shortTerm(sessionId).window().flatMap(saidIn))
  for (const { kind, name, text } of notes) {
    // As it is kept, so that it is still known after a restart.
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

/** Which note a message is, and its words. */
function saidIn(message: Message.Info): [string, string][] {
  if (message.type !== "text" || !message.data.origin) return []
  const { origin, parts } = message.data
  return [[`${origin.kind} ${origin.name}`, parts.map(({ text }) => text).join("\n")]]
}
