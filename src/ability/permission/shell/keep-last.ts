// What was made of the last texts, so that one that is looked at from several sides is read once.

/** To keep what was made of a longer one costs more than to make it again. */
const longest = 16_384
/** All texts together, so that what is kept takes a few megabytes at most. */
const maxLetters = 100_000

/** What is given is shared: nobody may change it. */
export function keepLast<T extends object>(make: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>()
  let letters = 0

  return (text) => {
    const known = kept.get(text)
    if (known) return known
    const made = make(text)
    if (text.length > longest) return made
    letters += text.length
    if (letters > maxLetters) {
      kept.clear()
      letters = text.length
    }
    kept.set(text, made)
    return made
  }
}
