// The colours of a command's output, put back into its text as SGR sequences.

/** Only digits and `;` come into a sequence, whatever a server sent. */
const isStyle = /^[\d;]{0,60}$/

/** Each sequence stands for itself: it first ends the style before it. */
export function withColors(text: string, colors: unknown): string {
  if (!Array.isArray(colors)) return text
  let [out, from] = ["", 0]
  for (const mark of colors) {
    const [at, style] = Array.isArray(mark) ? (mark as unknown[]) : []
    if (!Number.isInteger(at) || (at as number) < from || (at as number) > text.length) continue
    if (typeof style !== "string" || !isStyle.test(style)) continue
    out += `${text.slice(from, at as number)}\u001b[${style ? `0;${style}` : "0"}m`
    from = at as number
  }
  return out + text.slice(from)
}
