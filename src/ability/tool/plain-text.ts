// Text of a stranger that a model or a person will read: what is not to be seen is made visible, and it has an end.

/** Controls but tab and line feed, and what has no width, turns the direction or is a tag; not what joins letters. */
const hidden = /(?!\t|\n|\u200c|\u200d|\ufe0f)[\p{Cc}\p{Cs}\p{DI}\u2028\u2029\ufff9-\ufffb]/gu

export function plainText(text: string, max: number): string {
  const cut = text.length > max ? `${text.slice(0, max)}…` : text
  return cut.replaceAll("\r\n", "\n").replace(hidden, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`)
}
