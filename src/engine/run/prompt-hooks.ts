// What a prompt needs of hooks. `engine/hook` has the code, which is loaded only if there are hooks.
import type { Slots } from "#ability/tool/run-tool.ts"
import type { Asked } from "#engine/rights/questions.ts"
import type * as Message from "#knowledge/message/message.ts"
import { NamedError } from "#util/error.ts"
import type { Run } from "./run.ts"

type Permit = NonNullable<Slots["permit"]>
type CallSlots = Required<Pick<Slots, "before" | "permit" | "after">>

export type PromptHooks = Readonly<{
  /** Runs the hooks of the first prompt of a session, and of this prompt. Throws if one of them blocks it. */
  begin(prompt: string): Promise<void>
  /** The same for a prompt that joins this one. */
  submit(prompt: string): Promise<void>
  /** Adds the context that hooks gave since the last call. */
  addContext(): void
  throwIfStopped(): void
  /** Some hooks come before the questions to a person. */
  judgesCalls: boolean
  /** Some hooks are about calls. */
  watchesCalls: boolean
  /** The slots of the gate for one call. `permit` is the slot that asks rules and people. */
  calls(run: Pick<Run, "permits" | "progress">, asked: Asked, permit: Permit): CallSlots
  /** Offers the final answer. If a hook holds it back, the model is told why and the loop goes on. */
  holdBack(answer: Message.Info): Promise<boolean>
  /** A person is asked something. Nobody waits for these hooks. */
  notify(message: string, type?: "permission_prompt" | "elicitation_dialog"): void
  /** Throws if a hook blocks a compaction that a person asked for. One that is needed happens anyway. */
  beforeCompact(trigger: "auto" | "manual"): Promise<void>
  /** Hooks may tell the model again what it no longer sees. */
  afterCompact(trigger: "auto" | "manual"): Promise<void>
}>

export class PromptBlocked extends NamedError {
  constructor(reasons: readonly string[]) {
    super("Hook.Blocked", `The prompt was not sent, because a hook blocks it. ${reasons.join(" ")}`)
  }
}
