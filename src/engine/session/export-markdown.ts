// A session as Markdown, for people.
import { controlWords } from "#client/control-words.ts"
import { historyOf } from "#engine/record/history.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import * as Log from "#kernel/process/log.ts"
import * as Message from "#knowledge/message/message.ts"

const longestLine = 200

/** The active branch. */
export async function exportMarkdown(sessionId: string): Promise<string> {
  const session = await SessionRecord.get(sessionId)
  const history = await historyOf(sessionId, session.branch)
  return [`# ${session.title || session.id}`, "", ...history.flatMap(section)].join("\n")
}

/** A control message in one line. */
export function describeControl(data: Message.Of<"system_control">["data"]): string {
  const line = Log.escapeControls(controlWords(data))
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line
}

function section(message: Message.Info): string[] {
  switch (message.type) {
    case "text": {
      const text = message.data.parts
        .map((part) => (part.type === "text" ? part.text : quote(part.text)))
        .join("\n\n")
      return [`## ${message.data.role}`, "", text, ""]
    }
    case "tool_request":
      return message.data.calls.flatMap((call) => [
        `**${call.name}** ${fence(call.invalid ?? JSON.stringify(call.arguments))}`,
        "",
      ])
    case "tool_result": {
      const { output, status } = message.data
      const text = typeof output === "string" ? output : JSON.stringify(output, null, 2)
      return details(status, text)
    }
    case "file_reference": {
      const { status, content, error } = message.data
      const name = `@${Message.fileName(message.data)}`
      return content === undefined ? [`${name} (${error ?? status})`, ""] : details(name, content)
    }
    case "image":
      return [`(image, ${message.data.state})`, ""]
    case "mcp_resource":
      return [`(resource ${message.data.resourceUri} of ${message.data.serverName})`, ""]
    case "system_control":
      return [`*${describeControl(message.data)}*`, ""]
    case "unknown":
      return ["*a message of an unknown type*", ""]
  }
}

function details(summary: string, text: string): string[] {
  return [
    "<details>",
    `<summary>${summary}</summary>`,
    "",
    "```",
    text.replaceAll("```", "` ` `"),
    "```",
    "",
    "</details>",
    "",
  ]
}

function fence(text: string): string {
  return `\`${text.replaceAll("`", "'")}\``
}

function quote(text: string): string {
  return text.replace(/^/gm, "> ")
}
