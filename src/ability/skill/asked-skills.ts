// Finds the skills that a request names: "/name …" at its start, or "use the skill name" and similar.
const called = /^\s*\/([\p{L}\p{N}:-]{1,128})(?=\s|$)/u
const asked = [
  /\b(?:use|using|with|apply|follow|load|run|via)\s+(?:the\s+|my\s+|our\s+)?skill\s+["'`“/]?([\p{L}\p{N}-]{1,64})/giu,
  /\b(?:use|using|with|apply|follow|load|run|via)\s+(?:the\s+|my\s+|our\s+)?["'`“/]?([\p{L}\p{N}-]{1,64})["'`”]?\s+skill\b/giu,
]
const maxText = 20_000

/** The skills of `names` that the text asks for. */
export function askedSkills(words: string, names: readonly string[]): string[] {
  const text = words.slice(0, maxText)
  const first = called.exec(text)?.[1]
  const found = [
    ...(first ? [first] : []),
    ...asked.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name!)),
  ]
  const known = new Map(names.map((name) => [name.toLowerCase(), name]))
  return [...new Set(found.flatMap((name) => known.get(name.toLowerCase()) ?? []))]
}
