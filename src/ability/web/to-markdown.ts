// Converts HTML to Markdown within limits: a page that is too large, too deep or too slow becomes plain text.

import { depthOf, stripTags } from "#util/parse/strip-tags.ts"
import type { Answer, Task } from "./markdown-worker.ts"

const maxLength = 2_000_000
const maxDepth = 200
/** Limits the memory of the parser: a thread that runs out of memory ends the whole process. */
const maxMarks = 100_000
const maxMilliseconds = 10_000

export type Readable = { title: string; text: string; isPlain: boolean }

export async function toMarkdown(html: string, url: string, signal: AbortSignal): Promise<Readable> {
  const answer = isOrdinary(html) ? await inThread({ toMarkdown: { html, url } }, signal) : undefined
  signal.throwIfAborted()
  if (answer) return { title: tidy(answer.title), text: answer.markdown.trim(), isPlain: false }
  const { title = "", text } = stripTags(html)
  return { title: tidy(title), text, isPlain: true }
}

function isOrdinary(html: string): boolean {
  return html.length <= maxLength && countMarks(html) <= maxMarks && depthOf(html) <= maxDepth
}

/** Counts `<` and `&`. The parser creates at most two nodes for each. */
function countMarks(html: string): number {
  let count = 0
  for (let at = 0; at < html.length; at++) {
    const code = html.charCodeAt(at)
    if (code === 0x3c || code === 0x26) count++
  }
  return count
}

/** Undefined if the thread failed or was terminated: a stack overflow, or too slow. */
async function inThread(task: Task, signal: AbortSignal): Promise<Answer | undefined> {
  const { location } = await import("./markdown-worker.ts")
  const { Worker } = process.getBuiltinModule("node:worker_threads")
  const worker = new Worker(new URL(location), {
    workerData: task,
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  })
  const limit = AbortSignal.any([signal, AbortSignal.timeout(maxMilliseconds)])
  try {
    return await new Promise<Answer | undefined>((resolve) => {
      worker.once("message", resolve)
      worker.once("error", () => resolve(undefined))
      worker.once("exit", () => resolve(undefined))
      limit.addEventListener("abort", () => resolve(undefined), { once: true })
      if (limit.aborted) resolve(undefined)
    })
  } finally {
    await worker.terminate()
  }
}

function tidy(title: string): string {
  return title
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, 300)
}
