// Which kinds of files are meant.
import { endingOf } from "./recognize.ts"
import type { Token } from "./tokens.ts"

/** Kinds of files: "typescript files", "*.md", ".json files", "css and scss files". */
export function endingsIn(tokens: Token[], words: string[]): string[] {
  const found: string[] = []
  for (let i = 0; i < words.length; i++) {
    if (
      !/^(?:files?|file's|sources?|scripts?|documents?|modules?|ones|extensions?|ending|suffix|code)$/.test(
        words[i]!,
      )
    )
      continue
    const before: string[] = []
    for (let j = i - 1; j >= Math.max(0, i - 7); j--) {
      const ending = endingOf(tokens[j]!.text)
      if (ending && !/^(?:c|h|r|text|log|env|lock)$/.test(words[j] === "" ? "" : words[j]!))
        before.unshift(ending)
      else if (ending && j === i - 1 && !/^(?:c|h|r)$/.test(words[j]!)) before.unshift(ending)
      else if (!/^(?:and|or|,|\/|source|all|test)$/.test(tokens[j]!.lower)) break
    }
    found.push(...before)
    for (let j = i + 1; j < Math.min(words.length, i + 6); j++) {
      if (
        !/^(?:with|ending|end|ends|in|that|the|extension|of|type|suffix|a|an|whose|having|is|and|or|,)$/.test(
          tokens[j]!.lower,
        )
      ) {
        const ending =
          /^\.?\w+$/.test(tokens[j]!.text) &&
          /^(?:in|with|extension|suffix|type|and|or|,|is|a|an|of)$/.test(tokens[j - 1]!.lower)
            ? endingOf(tokens[j]!.text)
            : undefined
        if (!ending || (tokens[j - 1]!.lower === "in" && !/^end/.test(words[j - 2] ?? ""))) break
        found.push(ending)
      }
    }
  }
  // "every .txt"
  for (let i = 1; i < words.length; i++)
    if (
      /^\.[a-z]\w*$/.test(words[i]!) &&
      /^(?:every|all|any|each)$/.test(words[i - 1]!) &&
      words[i] !== ".env"
    )
      found.push(...[endingOf(tokens[i]!.text)].flatMap((ending) => ending ?? []))
  const nouns = /\b(?:images|pictures|stylesheets)\b/.exec(words.join(" "))
  if (nouns && !found.length) found.push(endingOf(nouns[0] === "pictures" ? "images" : nouns[0])!)
  return [...new Set(found)]
}
