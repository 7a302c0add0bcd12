// Text of a stranger that a model or a person will read: what is not to be seen is made visible, and it has an end.

/** Controls but tab and line feed, and what has no width, turns the direction or is a tag; not what joins letters, as long
 * as it stands behind one. */
const hidden =
  /(?!\t|\n|(?<=[\p{L}\p{M}\p{Emoji}])[\u200c\u200d]|(?<=\p{Emoji})\ufe0f)[\p{Cc}\p{Cs}\p{DI}\u2028\u2029\ufff9-\ufffb]/gu

export function plainText(text: string, max: number): string {
  const part = cut(text, max)
  // Nearly all text; it is looked at in every start, for every tool of every server.
  if (!/[^\t\n\x20-\x7e]/.test(part)) return part
  const shown = part.replaceAll("\r\n", "\n").replace(hidden, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)
  // What is hidden takes eight times its room once it is shown.
  return cut(shown, 2 * max + 1)
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max)}…` : text
}
