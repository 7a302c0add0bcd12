// Questions of a task to a person: about permission, or of an MCP server. The task waits for input, and a message with
// the answer continues it. A client may allow something once or for the session; lasting rules are for the person.
import type { Message, Part } from "@a2a-js/sdk"
import { RequestMalformedError } from "@a2a-js/sdk/errors"
import * as Elicitation from "#ability/elicitation/elicitation.ts"
import * as Permission from "#ability/permission/permission.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText } from "#util/error.ts"
import { dataPart, textPart } from "./objects.ts"

export type Question =
  | { kind: "permission"; id: string; request: Permission.Request }
  | { kind: "elicitation"; id: string; request: Elicitation.Request }

const maxPreview = 4_000
const replies: Record<string, { reply: Permission.Reply } & Permission.Details> = {
  once: { reply: "once" },
  session: { reply: "always", scope: "session" },
  reject: { reply: "reject" },
}

/** The question for people, and for programs as data. */
export function sayQuestion(question: Question): Part[] {
  const { kind, id } = question
  if (question.kind === "elicitation") {
    const { server, message, fields, url } = question.request
    const text = `${server ?? "vitamin"} asks: ${message}${url ? `\n${url}` : ""}`
    const how = "Answer with the values as a data part, or with the text: decline"
    return [said(`${text}\n${how}`), dataPart({ question: { kind, id, fields: fields ?? [] } })]
  }
  const { title, preview, needs } = question.request
  const canBeKept = Permission.canBeAlways(question.request)
  const options = Object.keys(replies).filter((name) => name !== "session" || canBeKept)
  const lines = [
    title,
    ...(preview ? [preview.slice(0, maxPreview)] : []),
    `Answer with: ${options.join(", ")} (or say why not)`,
  ]
  const asked = needs.map(({ permission, target }) => ({ permission, target: Secret.redact(target) }))
  return [said(lines.join("\n")), dataPart({ question: { kind, id, options, needs: asked } })]
}

/** Answers a question with the text or the data of a message. Any other text than a known reply rejects, and the model
 * reads it. */
export async function answerQuestion(question: Question, { parts }: Message, text: string): Promise<void> {
  const data = parts.find(({ content }) => content?.$case === "data")?.content?.value
  try {
    if (question.kind === "elicitation")
      return void Elicitation.reply(question.id, elicitationReply(question.request, data, text.trim()))
    const word = text.trim().toLowerCase()
    const known = Object.hasOwn(replies, word) ? replies[word] : undefined
    const { reply, ...details } = known ?? { reply: "reject" as const, message: text.slice(0, 10_000) }
    await Permission.reply(question.id, reply, details)
  } catch (error) {
    throw new RequestMalformedError(errorText(error))
  }
}

function elicitationReply(
  { fields = [] }: Elicitation.Request,
  data: unknown,
  text: string,
): Elicitation.Reply {
  if (text.toLowerCase() === "decline") return { action: "decline" }
  const [only, ...others] = fields
  const typed = only && !others.length && data === undefined ? { [only.name]: text } : data
  return Elicitation.Reply.parse({ action: "accept", content: typed ?? {} })
}

function said(text: string): Part {
  return textPart(Secret.redact(text.split("\n").map(Log.escapeControls).join("\n")))
}
