// The schema of hooks: the events, what a hook is told and may answer, and the key `hooks` of the configuration. The names
// are those of Claude Code and Codex, so that their hooks work here.
import { z } from "zod"
import { about } from "#util/about.ts"

export const hookEvents = [
  "SessionStart",
  "SessionEnd",
  "UserPromptSubmit",
  "PreToolUse",
  "PermissionRequest",
  "PostToolUse",
  "PostToolUseFailure",
  "PreCompact",
  "PostCompact",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "Notification",
] as const
export type HookEvent = (typeof hookEvents)[number]

/** What a hook is told. docs/hooks.md says which fields an event has. */
export type HookInput = Readonly<{
  session_id: string
  /** A JSONL file with the messages of the session. It is written when this field is read. */
  transcript_path: string
  cwd: string
  hook_event_name: HookEvent
  permission_mode: "default" | "plan" | "acceptEdits" | "bypassPermissions"
  [field: string]: unknown
}>

/** What a hook may answer. Nothing means: go on. */
export type HookOutput = {
  continue?: boolean
  stopReason?: string
  suppressOutput?: boolean
  systemMessage?: string
  decision?: "approve" | "block"
  reason?: string
  hookSpecificOutput?: {
    hookEventName: HookEvent
    permissionDecision?: "allow" | "deny" | "ask" | "defer"
    permissionDecisionReason?: string
    updatedInput?: Record<string, unknown>
    additionalContext?: string
    updatedToolOutput?: unknown
    decision?: { behavior: "allow" | "deny"; message?: string }
  }
}

type Answer = HookOutput | undefined
export type HookFunction = (
  input: HookInput,
  toolUseId: string | undefined,
  options: { signal: AbortSignal },
  // biome-ignore lint/suspicious/noConfusingVoidType: a function without a return statement is a hook too.
) => Answer | void | Promise<Answer | void>

const Call = z.custom<HookFunction>(
  (value) => typeof value === "function",
  "expected a function, which only a TypeScript file can give; commands belong in hooks.json",
)

const Group = z.strictObject({
  matcher: about(
    "Tools that it is for, such as `Bash` or `Edit|Write`; of other events, what docs/hooks.md says. Without it: all.",
    z.string().max(1_000).refine(isPattern, "expected names or a regular expression").optional(),
  ),
  timeout: about("Seconds that each function may take.", z.number().positive().max(600).optional(), 60),
  hooks: about("The functions.", z.array(Call).max(100)),
})

export const Hooks = z.strictObject({
  otherAgents: about(
    "Also use the hooks of `.claude/settings.json`, `.claude/settings.local.json` and `.codex/hooks.json`, of the project and of your home folder.",
    z.boolean().optional(),
    false,
  ),
  on: about(
    "Functions by event. Only in a TypeScript file.",
    z
      .record(
        z.string().refine(isHookEvent, `expected an event: ${hookEvents.join(", ")}`),
        z.array(Group).max(100),
      )
      .optional() as z.ZodType<Partial<Record<HookEvent, z.infer<typeof Group>[]>> | undefined>,
  ),
})

export function isHookEvent(name: string): name is HookEvent {
  return hookEvents.some((event) => event === name)
}

function isPattern(matcher: string): boolean {
  try {
    return matcher === "*" || Boolean(new RegExp(matcher))
  } catch {
    return false
  }
}
