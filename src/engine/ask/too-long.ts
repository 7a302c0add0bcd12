// Whether a provider refused a request because it exceeds the model's window. Each provider words this differently,
// and few have a code.
import { errorText } from "#util/error.ts"

const words = [
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
const quota = /per[- ](min|minute|day|hour)|\btpm\b|rate[_ -]limit|quota/

export function isTooLong(error: unknown): boolean {
  const { statusCode, responseBody, data } = (error ?? {}) as {
    statusCode?: unknown
    responseBody?: unknown
    data?: unknown
  }
  if (typeof statusCode === "number" && (statusCode === 429 || statusCode === 401 || statusCode === 403))
    return false
  const body = typeof responseBody === "string" ? responseBody.slice(0, 5_000) : ""
  const said = `${errorText(error)} ${body} ${codeOf(data)}`.toLowerCase()
  return words.some((form) => form.test(said)) && !quota.test(said)
}

/** For an error in the middle of a stream. */
function codeOf(data: unknown): string {
  const { code, type } = (data ?? {}) as { code?: unknown; type?: unknown }
  return [code, type].filter((one) => typeof one === "string").join(" ")
}
