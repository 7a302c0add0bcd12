// A text between two tags, which nothing in it can close: what somebody else wrote must not speak from outside of them.

/** `attributes` are told in the opening tag. */
export function insideTag(tag: string, text: string, attributes: Record<string, string> = {}): string {
  const inner = text.replaceAll(new RegExp(`<(?=\\s*/?\\s*${tag}\\b)`, "gi"), "‹")
  const told = Object.entries(attributes).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
  return `<${tag}${told.join("")}>\n${inner}\n</${tag}>`
}
