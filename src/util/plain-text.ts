// Text for a model or a person: untrusted text made safe to read, and long text shortened.

/** Control characters except tab and line feed, characters without width, direction marks and tags. Joiners after a
 * letter are allowed. V8 needs 0.3 ms to create this pattern, so it is not created at the start. */
const replaceHidden = (text: string, by: (character: string) => string) =>
  text.replace(
    /(?!\t|\n|(?<=[\p{L}\p{M}\p{Emoji}])[\u200c\u200d]|(?<=\p{Emoji})\ufe0f)[\p{Cc}\p{Cs}\p{DI}\u2028\u2029\ufff9-\ufffb]/gu,
    by,
  )

/** Hidden characters become visible, and the length is bounded. */
export function plainText(text: string, max: number): string {
  const part = cut(text, max)
  // The fast path for nearly all text; it runs at every start, for every tool of every server.
  if (!/[^\t\n\x20-\x7e]/.test(part)) return part
  const shown = replaceHidden(part.replaceAll("\r\n", "\n"), (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)
  // A hidden character is eight characters long once it is visible.
  return cut(shown, 2 * max + 1)
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}

/** At most `max` characters: cut between two words if there is a space near the end, else inside a word. A text that was
 * cut ends with `…`. */
export function shorten(text: string, max: number): string {
  // A character is one or two code units.
  const characters = [...text.slice(0, 2 * max + 2)]
  if (characters.length <= max) return text
  const kept = characters.slice(0, Math.max(0, max - 1)).join("")
  const words = /\s/.test(characters[max - 1]!) ? kept : kept.replace(/\s+\S*$/, "")
  return `${(words.length * 2 < kept.length ? kept : words).replace(/[\s,;:.–—-]+$/u, "")}…`
}
