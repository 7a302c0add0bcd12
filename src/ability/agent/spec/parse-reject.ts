// Reads the answer of a specialist that rejects its task: `[REJECT] This task requires <agent>. I handle: <capabilities>.`

/** `agent`: who the specialist thinks should do it. `handles`: what it does itself. */
export type Rejection = { agent?: string; handles?: string }

/** Undefined unless the text begins with `[REJECT]`: further down it is part of an answer. Models wrap it in emphasis or
 * a quote, and leave out parts of the form. */
export function parseReject(text: string): Rejection | undefined {
  const [, rest] = /^[\s>*_`"']*\[REJECT\]([\s\S]*)$/i.exec(text) ?? []
  if (rest === undefined) return undefined
  const [, agent] = /\brequires\s+(?:the\s+)?[<*_`"']*(\w[\w.-]{0,63})/i.exec(rest) ?? []
  const [, handles] = /\bI handle:?\s*([^\n]+)/i.exec(rest) ?? []
  const named = agent?.replace(/[.-]+$/, "").toLowerCase()
  return {
    ...(named ? { agent: named } : {}),
    ...(handles ? { handles: handles.replace(/[\s.*_`"']+$/, "") } : {}),
  }
}
