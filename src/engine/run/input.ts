// The input of a prompt.
import type { Rule } from "#ability/permission/rule.ts"
import type * as Queue from "#engine/queue/queue.ts"
import type * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import type { PromptPart } from "#engine/record/prompt-part.ts"
import type { Asks } from "#engine/rights/permits.ts"
import type { Limits, Run } from "./run.ts"

export type Input = {
  sessionId: string
  text?: string
  /** After the text: more text, files and images. */
  parts?: PromptPart[]
  /** The text in which `@path` is a reference; default: all of it. */
  mentionsIn?: string
  /** Do not look for a command in it: the caller has done so, or a server wrote it. */
  isText?: boolean
  /** First read again attachments that have changed, and retry those that failed. */
  refresh?: boolean
  agent?: string
  model?: string
  signal?: AbortSignal
  /** Wait for the running prompt, join it before its next request, or throw `Session.Busy`. */
  whenBusy?: Queue.WhenBusy
  /** The record of this prompt, if the caller has stored it. */
  stored?: StoredPrompt.Handle | undefined
  /** Milliseconds, from when the session begins with the prompt. */
  timeout?: number
  /** What happens when a person must allow something: wait for one, deny, or allow this once. Default: ask listeners
   * of `Permission.Requested`, and deny at once if there are none or all of them fail. */
  asks?: Asks
  /** Milliseconds after which an unanswered question counts as rejected; default: ten minutes. */
  replyLimit?: number
  /** The person's rules for this prompt. */
  rules?: Rule[]
  /** The prompt that gave this one as a task. */
  parent?: Run
} & Partial<Limits>
