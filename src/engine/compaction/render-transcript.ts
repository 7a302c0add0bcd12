// Renders messages as text for a model to summarise: without calls that would need results, and within a token limit.
import { textWithin } from "#engine/run/fit-tokens.ts"
import { cut, isLong } from "#knowledge/memory/shorten.ts"
import { estimateTokens, outputText } from "#knowledge/memory/tokens.ts"
import { wordsOf } from "#knowledge/memory/working.ts"
import type * as Message from "#knowledge/message/message.ts"

/** Limits for results and calls in characters, tried one after the other. */
const limits = [4_000, 1_000, 300, 100]

export function renderTranscript(messages: readonly Message.Info[], tokens: number): string {
  let text = ""
  for (const limit of limits) {
    text = messages.flatMap((message) => lineOf(message, limit)).join("\n\n")
    if (estimateTokens(text) <= tokens) return text
  }
  return textWithin(text, tokens)
}

function lineOf(message: Message.Info, limit: number): string[] {
  switch (message.type) {
    case "text": {
      const words = wordsOf(message)
      return words ? [`[${message.data.role}]\n${short(words, limit * 2)}`] : []
    }
    case "tool_request":
      return message.data.calls.map(
        ({ name, arguments: given, invalid }) =>
          `[call] ${name} ${short(invalid ?? JSON.stringify(given), limit)}`,
      )
    case "tool_result": {
      const { toolName, status } = message.data
      return [`[result of ${toolName}, ${status}]\n${setIn(short(outputText(message.data), limit))}`]
    }
    case "file_reference":
      return [
        `[file ${message.data.path}]\n${setIn(short(message.data.content ?? message.data.error ?? "", limit))}`,
      ]
    case "image": {
      const { recognizedText, visionAnalysis, error } = message.data
      return [`[image]\n${setIn(short(visionAnalysis ?? recognizedText ?? error ?? "", limit))}`]
    }
    case "mcp_resource":
      return [`[resource ${message.data.resourceUri}]`]
    case "system_control":
    case "unknown":
      return []
  }
}

/** Text from outside must not look like a turn of somebody. */
function setIn(text: string): string {
  return text.replaceAll(/^/gm, "  ")
}

function short(text: string, limit: number): string {
  return isLong(text, limit) ? cut(text, limit) : text
}
