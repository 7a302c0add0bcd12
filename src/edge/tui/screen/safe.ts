// Text of a model, a file or a server, made safe for the terminal: nothing in it can move the cursor, change a mode, or
// reorder what a person reads.

/** C0 and C1 controls except newline and tab, the line separators, and the marks that change the direction of text. */
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g
const isUnsafe = new RegExp(unsafe.source)

/** Unsafe characters are shown as their code: `\u001b`. Tabs become blanks, since their width depends on the column. */
export function safe(text: string): string {
  const lines = text.includes("\r") ? text.replaceAll("\r\n", "\n") : text
  const known = isUnsafe.test(lines) ? lines.replace(unsafe, codeOf) : lines
  const whole = known.isWellFormed() ? known : known.toWellFormed()
  return whole.includes("\t") ? whole.replaceAll("\t", "    ") : whole
}

/** The same in one line. */
export function safeLine(text: string): string {
  return safe(text.trim().replace(/\s+/g, " "))
}

function codeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
}
