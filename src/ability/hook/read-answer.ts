// The answer of a hook: its exit code and output, or the object that a function returned, as decisions. Texts are bounded
// and redacted, because the model and people see them.
import { isPlain, type Raw } from "#kernel/schema/check.ts"
import type { HookEvent } from "#kernel/schema/schema.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { isTooDeep } from "#util/parse/is-too-deep.ts"
import { plainText } from "#util/plain-text.ts"
import type { Ran } from "./run-command.ts"

/** The decision of a hook. An empty object: it decided nothing. */
export type Answer = {
  /** Why the action must not happen. */
  block?: string
  /** A person must be asked, and why. */
  ask?: string
  /** Text for the model. */
  context?: string
  /** The arguments that the call is to have. */
  input?: Raw
  /** The model sees this instead of the tool's output. */
  output?: string
  /** The turn must end, and why. */
  stop?: string
  /** Text for the person. */
  message?: string
  /** Why the hook failed. */
  error?: string
  /** People are not told that it added context. */
  isQuiet?: boolean
}

/** Characters of a reason or of a context. */
const maxText = 10_000
const shown = 300
const withoutReason = "it gave no reason"

/** Events whose plain output is context for the model. */
const contextual = new Set<HookEvent>(["SessionStart", "UserPromptSubmit", "SubagentStart"])

/** Exit code 0: JSON, or context. 2: blocks, and stderr is the reason. Any other: the hook failed. */
export function answerOf(event: HookEvent, { code, stdout, stderr, failure }: Ran): Answer {
  if (failure) return { error: `${failure}${tail(stderr)}` }
  if (code === 2) return { block: text(stderr) || reasonIn(stdout) || withoutReason }
  if (code !== 0) return { error: `it ended with exit code ${code}${tail(stderr)}` }
  const said = stdout.trim()
  if (!said.startsWith("{")) return contextual.has(event) && said ? { context: text(said) } : {}
  try {
    if (isTooDeep(said)) return { error: "its output is nested too deep" }
    return readOutput(event, JSON.parse(said))
  } catch {
    if (contextual.has(event)) return { context: text(said) }
    return { error: `its output begins like JSON but is none: ${plainText(text(said), shown)}` }
  }
}

/** Hooks that block with exit code 2 may give their reason as JSON instead. */
function reasonIn(stdout: string): string {
  try {
    const value: unknown = isTooDeep(stdout) ? undefined : JSON.parse(stdout)
    return isPlain(value) ? text(value.reason) : ""
  } catch {
    return ""
  }
}

/** A misspelt decision blocks: it was meant to decide something. */
export function readOutput(event: HookEvent, value: unknown): Answer {
  if (value === undefined || value === null) return {}
  if (!isPlain(value)) return { error: `it answered with ${typeof value}, not with an object` }
  const own = isPlain(value.hookSpecificOutput) ? value.hookSpecificOutput : {}
  const { hookEventName } = own
  if (hookEventName !== undefined && hookEventName !== event)
    return { error: `its hookSpecificOutput is for ${JSON.stringify(hookEventName)}, not for ${event}` }
  const context = own.additionalContext ?? value.additionalContext
  const output = own.updatedToolOutput ?? own.updatedMCPToolOutput
  return {
    ...(value.continue === false ? { stop: text(value.stopReason) || withoutReason } : {}),
    ...(typeof value.systemMessage === "string" ? { message: text(value.systemMessage) } : {}),
    ...(value.suppressOutput === true ? { isQuiet: true } : {}),
    ...(typeof context === "string" && context.trim() ? { context: text(context) } : {}),
    ...(event === "PreToolUse" && isPlain(own.updatedInput) ? { input: own.updatedInput } : {}),
    ...(event === "PostToolUse" && output !== undefined ? { output: outputText(output) } : {}),
    ...decisionOf(event, value, own),
  }
}

function decisionOf(event: HookEvent, value: Raw, own: Raw): Pick<Answer, "block" | "ask"> {
  const reason = text(own.permissionDecisionReason) || text(value.reason) || withoutReason
  if (event === "PermissionRequest" && own.decision !== undefined) {
    const { behavior, message } = isPlain(own.decision) ? own.decision : ({} as Raw)
    return behavior === "allow" ? {} : { block: text(message) || reason }
  }
  const decision = own.permissionDecision ?? value.decision
  switch (decision) {
    case undefined:
    case "allow":
    case "approve":
      return {}
    case "block":
    case "deny":
      return { block: reason }
    // Nobody resumes a deferred call, so a person decides now.
    case "ask":
    case "defer":
      return { ask: reason }
    default:
      return { block: `its decision ${plainText(JSON.stringify(decision), 40)} is unknown. ${reason}` }
  }
}

function outputText(output: unknown): string {
  return Secret.redact(typeof output === "string" ? output : (JSON.stringify(output) ?? ""))
}

function text(value: unknown): string {
  return typeof value === "string" ? plainText(Secret.redact(value).trim(), maxText) : ""
}

function tail(stderr: string): string {
  const last = text(stderr)
  return last ? `: ${plainText(last.slice(-shown), shown)}` : ""
}
