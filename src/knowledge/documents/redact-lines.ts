// Redacts the lines of a document before they are split into passages, because a passage may end in the middle of a secret.
import * as Secret from "#kernel/secret/secret.ts"
import type { Line } from "#knowledge/rules/chunk-markdown.ts"

/** Each line keeps its number. Secrets are also found if they are wrapped: pages of a PDF file break long words. */
export function redactLines(lines: Line[]): Line[] {
  const given = lines.map(({ text }) => text)
  const redacted = redactJoined(redactJoined(given, "\n"), "")
  return redacted === given ? lines : lines.map(({ number }, i) => ({ text: redacted[i]!, number }))
}

/** The label replaces the secret on the line where it begins; its other lines become empty. */
function redactJoined(texts: string[], between: string): string[] {
  const { spans } = Secret.find(texts.join(between))
  if (spans.length === 0) return texts
  let [start, next] = [0, 0]
  return texts.map((text) => {
    const end = start + text.length
    let [redacted, at] = ["", start]
    for (let span = spans[next]; span && span.start < end; span = spans[next]) {
      if (span.start >= at) redacted += text.slice(at - start, span.start - start) + span.label
      at = Math.min(span.end, end)
      if (span.end > end) break
      next++
    }
    redacted += text.slice(at - start)
    start = end + between.length
    return redacted
  })
}
