// Classifies the failure of a request: transient, permanent, or too long for the model's window. Retries after
// transient failures.

import { setTimeout as sleep } from "node:timers/promises"
import * as Log from "#kernel/process/log.ts"
import { errorCode, errorText, NamedError } from "#util/error.ts"
import { Stalled } from "./ask-model.ts"
import { EmptyAnswer, Filtered, ProviderFault, Unfinished } from "./collect.ts"

const usualAttempts = 6
const emptyAttempts = 3
const filteredAttempts = 2
const refusedAttempts = 2
const longestWait = 60_000
const longestMessage = 2_000

/** How providers say that a request exceeds the window. Few have a code for it. */
const tooLong = [
  /context[_ ]length[_ ]exceeded/,
  /context[_ ](window|length|size|limit)\b.{0,80}(exceed|too (long|large|small)|maximum|limit)/s,
  /(exceed|too (long|large)|larger than|longer than|beyond).{0,80}context[_ ](window|length|size|limit)/s,
  /maximum context( length)?\b/,
  /(prompt|input|request|messages?) (is|are|was) too (long|large)/,
  /input (token count|length).{0,60}exceed/s,
  /maximum (prompt|input) length/,
  /(prompt|input) token count.{0,60}exceeds/s,
  /reduce the length of the (messages|prompt|input)/,
  /input tokens? exceed|exceeds? the maximum number of (input )?tokens/,
  /exceed_context_size|request_too_large|model_context_window_exceeded|string_above_max_length/,
  /(request|payload|content)( entity)? too large/,
  /tokens? (\+|and) .{0,20}max_new_tokens.{0,20}(must be|<=)/s,
]
/** Quotas per minute or day are counted in tokens, too. */
const aboutQuota = /per[- ](min|minute|day|hour)|\btpm\b|rate[_ -]limit|quota/

/** What the SDK says about the response. Its other errors concern our request, and are not retried. */
const aboutAnswers = /^AI_(APICall|JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody)Error$/

export type Facts = Partial<{
  url: string
  statusCode: number
  message: string
  name: string
  isRetryable: boolean
  responseBody: string
  responseHeaders: Record<string, string>
  data: unknown
}>

/** A transient failure: the error, how long the wait is, and the number of the next attempt. */
export type Fault = { error: unknown; wait: number; next: number; limit: number }

/** Call `attempt` until it succeeds, fails for good, or has failed too often. */
export async function withRetry<T>(options: {
  signal: AbortSignal
  /** The most attempts. */
  attempts?: number
  wait: (error: unknown, tries: number) => number
  attempt: () => Promise<T>
  /** Called before the wait for the next attempt. */
  onRetry: (fault: Fault) => void | Promise<void>
}): Promise<T> {
  const { signal, attempts = usualAttempts, wait, attempt, onRetry } = options
  for (let tries = 1; ; tries++)
    try {
      signal.throwIfAborted()
      return await attempt()
    } catch (caught) {
      signal.throwIfAborted()
      const error = reported(caught)
      const limit = Math.min(attempts, limitFor(error))
      if (tries >= limit || !isTransient(error)) throw error
      const pause = wait(error, tries)
      // Do not wait for a provider that asks for more time than that.
      if (pause > longestWait) throw error
      await onRetry({ error, wait: pause, next: tries + 1, limit })
      Log.info("the provider failed and is asked again", { error: errorText(error), wait: pause, tries })
      await sleep(pause, undefined, { signal })
    }
}

/** Nothing listens at the address. A restarting server is back for the second attempt; otherwise a person must help. */
export function isRefused(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const [first = cause] = (cause as Partial<AggregateError> | undefined)?.errors ?? []
  return [first, (first as Error | undefined)?.cause].some((each) => errorCode(each) === "ECONNREFUSED")
}

function limitFor(error: unknown): number {
  if (isRefused(error)) return refusedAttempts
  if (error instanceof Filtered) return filteredAttempts
  return error instanceof EmptyAnswer ? emptyAttempts : usualAttempts
}

/** The AI SDK wraps what our own `fetch` throws in the middle of an answer. The provider's message is shown and
 * stored, so it is cut to a readable length. */
function reported(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  if (error.cause instanceof NamedError) return error.cause
  if (error.message.length > longestMessage) error.message = `${error.message.slice(0, longestMessage)}…`
  return error
}

/** The fields of request errors, in the AI SDK and in our own client. Each may be missing. */
export function factsOf(error: unknown): Facts {
  return (error ?? {}) as Facts
}

/** Busy, broken or unreachable for now; not a request that can never succeed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof EmptyAnswer) return error.isTransient
  if (error instanceof Filtered) return true
  if (isTooLong(error) || isOutOfQuota(error)) return false
  const { statusCode, isRetryable, name = "" } = factsOf(error)
  // The status of an answer that broke in the middle is 200 and says nothing.
  if (statusCode !== undefined && statusCode >= 300)
    return statusCode === 408 || statusCode === 409 || statusCode === 429 || statusCode >= 500
  if (isRetryable !== undefined && statusCode === undefined) return isRetryable
  if (error instanceof Unfinished || error instanceof ProviderFault || error instanceof Stalled) return true
  if (name.startsWith("AI_")) return aboutAnswers.test(name)
  return !isOurs(error)
}

/** The provider refused a request because it exceeds the model's window. */
export function isTooLong(error: unknown): boolean {
  const { statusCode, responseBody, data } = factsOf(error)
  if (statusCode === 429 || statusCode === 401 || statusCode === 403) return false
  const body = typeof responseBody === "string" ? responseBody.slice(0, 5_000) : ""
  const said = `${errorText(error)} ${body} ${codeOf(data)}`.toLowerCase()
  return tooLong.some((form) => form.test(said)) && !aboutQuota.test(said)
}

/** The code and type of an error in the middle of a stream. */
function codeOf(data: unknown): string {
  const { code, type } = (data ?? {}) as { code?: unknown; type?: unknown }
  return [code, type].filter((one) => typeof one === "string").join(" ")
}

/** The account is empty: waiting does not help, although the status is that of a busy provider. */
export function isOutOfQuota(error: unknown): boolean {
  const { responseBody = "", message = "", data } = factsOf(error)
  const said = `${responseBody} ${message} ${JSON.stringify(data) ?? ""}`
  return /insufficient_quota|billing_hard_limit|credit balance is too low/i.test(said)
}

function isOurs(error: unknown): boolean {
  if (error instanceof TypeError) return !/fetch failed|terminated|network/.test(error.message)
  return error instanceof NamedError || error instanceof RangeError || error instanceof ReferenceError
}

/** The wait that the provider asks for, else exponential backoff with jitter, of at most a minute. */
export function waitFor(error: unknown, tries: number): number {
  const asked = retryAfter(factsOf(error).responseHeaders)
  const own = 250 * 2 ** tries * (0.5 + Math.random() / 2)
  return asked ?? Math.min(own, longestWait)
}

function retryAfter(headers: Record<string, string> | undefined): number | undefined {
  const milliseconds = Number(headers?.["retry-after-ms"] || Number.NaN)
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds)
  const text = headers?.["retry-after"]
  if (!text) return undefined
  const seconds = Number(text)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}
