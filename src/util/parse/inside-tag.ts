// Puts an untrusted text between two tags, and escapes those tags in it, so that it cannot end the tag early.

export function insideTag(tag: string, text: string, attributes: Record<string, string> = {}): string {
  // Matches the tag also with invisible characters in it.
  const blank = "[\\s\\p{Cf}]*"
  const inner = text.replaceAll(new RegExp(`<(?=${blank}(?:/${blank})?${tag}\\b)`, "giu"), "‹")
  const shown = Object.entries(attributes).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
  return `<${tag}${shown.join("")}>\n${inner}\n</${tag}>`
}
