// Cuts a text to a length: between two words if there is a space near the end, else inside a word.

/** At most `max` characters. A text that was cut ends with `…`. */
export function shorten(text: string, max: number): string {
  // A character is one or two code units.
  const characters = [...text.slice(0, 2 * max + 2)]
  if (characters.length <= max) return text
  const kept = characters.slice(0, Math.max(0, max - 1)).join("")
  const words = /\s/.test(characters[max - 1]!) ? kept : kept.replace(/\s+\S*$/, "")
  return `${(words.length * 2 < kept.length ? kept : words).replace(/[\s,;:.–—-]+$/u, "")}…`
}
