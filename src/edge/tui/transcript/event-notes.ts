// Events that become a line of their own.
import type { StreamEvent } from "#client/client.ts"
import { blockedText } from "#client/control-words.ts"
import type { Role } from "#edge/tui/screen/line.ts"
import { shorten } from "#util/plain-text.ts"

/** `isOfPrompt`: it stands below the prompt, whose message may come later. */
export type Told = { text: string; mark: string; role: Role; isOfPrompt?: true }

const maxPrompt = 200

export function noteOf(event: StreamEvent): Told | undefined {
  switch (event.type) {
    case "session.notice":
      return { text: event.payload.text, mark: "!", role: "warning" }
    case "guard.blocked":
      return { text: blockedText(event.payload), mark: "!", role: "warning" }
    case "session.retry": {
      const { provider, reason, wait, attempt, attempts } = event.payload
      const next = `attempt ${attempt} of ${attempts} in ${Math.ceil(wait / 1_000)} s`
      return {
        text: `${provider}: ${reason.replace(/\.$/, "")}; ${next}`,
        mark: "!",
        role: "warning",
        isOfPrompt: true,
      }
    }
    case "agent.chosen":
    case "model.chosen":
      return { text: event.payload.text, mark: "·", role: "dim", isOfPrompt: true }
    case "prompt.skipped": {
      const { text, reason } = event.payload.prompt
      return { text: `not run: ${shorten(text.trim(), maxPrompt)} (${reason})`, mark: "✗", role: "error" }
    }
    case "session.error":
      if (event.payload.error.name === "Session.Interrupted")
        return { text: "stopped", mark: "·", role: "dim" }
      return { text: event.payload.error.message, mark: "✗", role: "error" }
    default:
      return undefined
  }
}
