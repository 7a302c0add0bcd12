// A message as `vitamin session show` prints it: text of people and models whole, tools and files in a line or two.

import { callWords, describeAttachment } from "#edge/cli/terminal/message-line.ts"
import * as Session from "#engine/session/session.ts"
import * as Message from "#knowledge/message/message.ts"

const maxShown = 300

export function describeMessage(message: Message.Info): string {
  switch (message.type) {
    case "text": {
      const { role, finish, origin } = message.data
      if (origin) return `· ${origin.kind} ${origin.name}`
      const broken = finish === "interrupted" || finish === "error" ? finish : undefined
      const reason = Message.cutReason(message) ?? broken
      const note = reason ? ` (${reason})` : ""
      return `[${role}]${note} ${Message.textOf(message)}\n`
    }
    case "tool_request":
      return message.data.calls.map((call) => `→ ${callWords(call)}`).join("\n")
    case "tool_result": {
      const { output, status } = message.data
      return `← ${status}: ${shorten(typeof output === "string" ? output : JSON.stringify(output))}\n`
    }
    case "file_reference":
      return describeAttachment(message) ?? `· ${message.data.path} is not read yet`
    case "image": {
      const { visionAnalysis, recognizedText } = message.data
      const words = visionAnalysis ?? recognizedText
      const line = describeAttachment(message) ?? "· an image that is not recognised yet"
      return words ? `${line}\n  ${shorten(words.trim())}` : line
    }
    case "mcp_resource":
      if (message.data.error !== undefined) return describeAttachment(message)!
      return `· resource ${message.data.resourceUri} of ${message.data.serverName}`
    case "system_control":
      return `· ${Session.describeControl(message.data)}`
    case "unknown":
      return "· a message that this version does not know"
  }
}

function shorten(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}
