// Which skills a person calls for by name: "/name …" at the start, or "use the skill name" and its like.
import { existsSync } from "node:fs"
import { nearest } from "#util/nearest.ts"

const called = /^\s*\/([\p{L}\p{N}-]{1,64})(?=\s|$)/u
const asked = [
  /\b(?:use|using|with|apply|follow|load|run|via)\s+(?:the\s+|my\s+|our\s+)?skill\s+["'`“/]?([\p{L}\p{N}-]{1,64})/giu,
  /\b(?:use|using|with|apply|follow|load|run|via)\s+(?:the\s+|my\s+|our\s+)?["'`“/]?([\p{L}\p{N}-]{1,64})["'`”]?\s+skill\b/giu,
]
const maxText = 20_000

/** Those that there are, in the order of the words. */
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

/** A "/name" at the start that no skill has, and the one that is probably meant. What is a path on this machine, or like no
 * skill's name, is taken as it was written. */
export function misspeltSkill(
  words: string,
  names: readonly string[],
): { name: string; meant: string } | undefined {
  const name = called.exec(words.slice(0, maxText))?.[1]
  if (name === undefined || askedSkills(`/${name}`, names).length || existsSync(`/${name}`)) return undefined
  const meant = nearest(name, names)
  return meant === undefined ? undefined : { name, meant }
}
