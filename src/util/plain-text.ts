// Makes untrusted text safe to read for a model or a person: hidden characters become visible, and its length is
// bounded.

/** Control characters except tab and line feed, characters without width, direction marks and tags. Joiners after a
 * letter are allowed. */
const hidden =
  /(?!\t|\n|(?<=[\p{L}\p{M}\p{Emoji}])[\u200c\u200d]|(?<=\p{Emoji})\ufe0f)[\p{Cc}\p{Cs}\p{DI}\u2028\u2029\ufff9-\ufffb]/gu

export function plainText(text: string, max: number): string {
  const part = cut(text, max)
  // The fast path for nearly all text; it runs at every start, for every tool of every server.
  if (!/[^\t\n\x20-\x7e]/.test(part)) return part
  const shown = part.replaceAll("\r\n", "\n").replace(hidden, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)
  // A hidden character is eight characters long once it is visible.
  return cut(shown, 2 * max + 1)
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}
