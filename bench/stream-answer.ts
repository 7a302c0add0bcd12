// An answer in Markdown whose deltas are spread over some time.
import type { ServerResponse } from "node:http"
import { setTimeout } from "node:timers/promises"

type Options = {
  deltas: number
  /** Milliseconds. */
  over: number
  frames(choices: object[], isLast?: boolean): string
}

export async function streamAnswer(
  response: ServerResponse,
  { deltas, over, frames }: Options,
): Promise<void> {
  const all = answerDeltas(deltas)
  const started = performance.now()
  for (let sent = 0; sent < deltas; ) {
    const due = Math.min(deltas, Math.ceil(((performance.now() - started) / over) * deltas))
    for (; sent < due; sent++) response.write(frames([{ delta: { content: all[sent] } }], false))
    await setTimeout(2)
  }
  response.end(frames([{ delta: {}, finish_reason: "stop" }]))
}

/** Paragraphs, lists and code, without capital letters. */
export function answerDeltas(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const at = i % 250
    if (i === count - 1) return "\n\nthe end\n"
    if (at === 120 || at === 150 || at === 180) return `\n- an **item** of ${i} `
    if (at === 210) return `\n\n\`\`\`ts\nconst x = ${i}\n`
    if (at === 230) return "\n```\n\n"
    if (at > 210 && at < 230) return `f(${i}, "x")${at % 4 ? " + " : "\n"}`
    return at === 0 && i ? "\n\n" : `word ${i} `
  })
}
