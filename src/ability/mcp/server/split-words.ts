// A command written as one line, as the words of a program and its arguments. No shell: quotes and backslashes are all
// that it knows.

export function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote: string | undefined
  for (let at = 0; at < line.length; at++) {
    const c = line[at]!
    if (c === "\\" && quote !== "'" && at + 1 < line.length) word = (word ?? "") + line[++at]
    else if (quote) {
      if (c === quote) quote = undefined
      else word += c
    } else if (c === '"' || c === "'") {
      quote = c
      word ??= ""
    } else if (/\s/.test(c)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? "") + c
  }
  return word === undefined ? words : [...words, word]
}
