// What a prompt is asked with.
import type { Rule } from "#ability/permission/rule.ts"
import type * as Queue from "#engine/queue/queue.ts"
import type * as StoredPrompt from "#engine/queue/stored-prompt.ts"
import type { PromptPart } from "#engine/record/prompt-part.ts"
import type { Asks } from "#engine/rights/permits.ts"
import type { Limits, Run } from "./run.ts"

export type Input = {
  sessionId: string
  text?: string
  /** Behind the text: more of it, files and images. */
  parts?: PromptPart[]
  /** The words in which `@path` points at a file; all of them where it is left out. */
  mentionsIn?: string
  /** No command is looked for in it: the caller has done so, or a server wrote it. */
  isText?: boolean
  /** First read again what was attached before and has changed since, and try again what failed. */
  refresh?: boolean
  agent?: string
  model?: string
  signal?: AbortSignal
  /** Wait behind the running prompt, join it before its next request, or throw `Session.Busy`. */
  whenBusy?: Queue.WhenBusy
  /** The record of this prompt, if the caller has stored it. */
  stored?: StoredPrompt.Handle | undefined
  /** Milliseconds, from when the session begins with it. */
  timeout?: number
  /** What is done where a person must allow something: wait for one, deny it, or allow it this once. Where it is left
   * out: ask those that listen for `Permission.Requested`, and deny at once if there are none or all of them fail. */
  asks?: Asks
  /** Milliseconds until a question that nobody answers counts as rejected; ten minutes where it is left out. */
  replyLimit?: number
  /** Rules of the person for this prompt. */
  rules?: Rule[]
  /** Who gave this prompt as a task. */
  parent?: Run
} & Partial<Limits>
