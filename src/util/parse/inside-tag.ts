// A text between two tags, which nothing in it can close: what somebody else wrote must not speak from outside of them.

/** `attributes` are told in the opening tag. */
export function insideTag(tag: string, text: string, attributes: Record<string, string> = {}): string {
  // Characters that nobody sees do not make it another tag.
  const blank = "[\\s\\p{Cf}]*"
  const inner = text.replaceAll(new RegExp(`<(?=${blank}(?:/${blank})?${tag}\\b)`, "giu"), "‹")
  const told = Object.entries(attributes).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
  return `<${tag}${told.join("")}>\n${inner}\n</${tag}>`
}
