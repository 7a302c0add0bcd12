// A text between two tags, which nothing in it can close: what somebody else wrote must not speak from outside of them.

export function insideTag(tag: string, text: string): string {
  const inner = text.replaceAll(new RegExp(`<(?=\\s*/?\\s*${tag}\\b)`, "gi"), "‹")
  return `<${tag}>\n${inner}\n</${tag}>`
}
