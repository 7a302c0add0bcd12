// Detects the language of a text, if possible. Its tables are loaded with the first text.

/** The language of a shorter text would be a guess. */
const fewest = 12
const most = 5_000

/** `en`, or undefined if it is unclear. */
export async function detectLanguage(text: string): Promise<string | undefined> {
  const sample = text.replace(/\s+/g, " ").trim().slice(0, most)
  if (sample.length < fewest) return undefined
  const { detect } = await import("tinyld")
  return detect(sample) || undefined
}
