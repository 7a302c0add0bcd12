// The notes about skills: the instructions of a skill, with paths to its files that tools can open; the documents that it
// links to and that the prompt is about; or one line for each of many skills.
import type * as Skill from "#ability/skill/skill.ts"
import { linesWithin, oneLine } from "#engine/run/fit-tokens.ts"
import { Unreadable } from "#knowledge/index/read-document.ts"
import { cutToTokens, estimateTokens } from "#knowledge/memory/tokens.ts"
import type { SkillDiscovery } from "#knowledge/skill/skill-discovery.ts"
import type { SkillReference } from "#knowledge/skill/skill-types.ts"
import { realOf } from "#util/file/path-info.ts"
import { quoteWord } from "#util/quote-word.ts"
import type { Note } from "./notes.ts"
import { pathForTools } from "./shown-path.ts"

/** A name that no skill can have. */
export const listName = "all, in a line each"
const maxFiles = 40
/** The blank lines between the parts. */
const frame = 4
const maxLine = 360
const maxList = 2_000
/** Measured: relevant and irrelevant links are far apart; this threshold is between them. */
const leastScore = 0.5
const mostReferences = 2

/** The instructions of a skill, in at most `budget` tokens. */
export function skillNote(skill: Skill.Info, budget: number): Note {
  const files = filesOf(skill)
  const { body, name, file } = skill
  const rest = `[cut here: read ${pathForTools(file)} for the rest]`
  const left = budget - estimateTokens(files) - estimateTokens(rest) - frame
  const kept = cutToTokens(body, Math.max(0, left))
  return { kind: "skill", name, text: [kept, ...(kept === body ? [] : [rest]), files].join("\n\n") }
}

/** The note for a skill that exceeds the budget. */
export function nameNote({ name, file }: Skill.Info): Note {
  return {
    kind: "skill",
    name,
    text: `Not shown, to save tokens. Read ${pathForTools(file)} first, and follow it.`,
  }
}

/** Names and descriptions within a token limit. As long as all fit, their order does not depend on the prompt. */
export function listNote(skills: Skill.Info[], budget: number): Note {
  const { lines, missing: more } = linesWithin(skills.map(lineOf), Math.min(maxList, budget))
  const text = [
    "Skills are instructions for one kind of work. When one fits what is to be done, read its file first and follow it:",
    ...lines.sort(),
    ...(more ? [`and ${more} more, which fit this less.`] : []),
  ].join("\n")
  return { kind: "skill", name: listName, text }
}

function lineOf({ name, description, file }: Skill.Info): string {
  const place = ` (${pathForTools(file)})`
  return oneLine(`- ${name}: ${description}`, Math.max(0, maxLine - place.length - 1)) + place
}

function filesOf(skill: Skill.Info): string {
  const { folder, references, scripts, assets, mcp, isTrusted } = skill
  const section = (title: string, lines: string[]) =>
    lines.length ? [`${title}\n${lines.slice(0, maxFiles).join("\n")}`] : []
  const documents = references.map(({ displayText, file }) => `- ${displayText}: ${pathForTools(file)}`)
  const programs = scripts.map(({ runner, file, description }) => {
    const command = [...(runner ? [runner] : []), commandOf(pathForTools(file))].join(" ")
    return `- ${command}${description ? `: ${description}` : ""}`
  })
  const waits = Object.keys(mcp).length > 0 && !isTrusted
  return [
    `Relative paths above start at ${pathForTools(folder)}.`,
    ...section("Read these when their matter comes up:", documents),
    ...section("Run these with bash:", programs),
    ...section(
      "Assets:",
      assets.map((path) => `- ${pathForTools(`${folder}/${path}`)}`),
    ),
    ...(waits ? ["Its MCP servers are not started: the folder is not trusted."] : []),
  ].join("\n\n")
}

/** The shell runs a file of the current folder only with `./`. */
function commandOf(path: string): string {
  const word = quoteWord(path)
  return word === path && !path.startsWith("/") ? `./${path}` : word
}

/** The documents of a skill that the prompt is about. */
export async function referenceNotes(
  intent: string,
  options: {
    discovery: SkillDiscovery
    skill: Skill.Info
    /** Tokens for each document. */
    budget: number
    mayRead: (path: string) => boolean
  },
): Promise<Note[]> {
  const { discovery, skill, budget, mayRead } = options
  const asked = { skillName: skill.name, limit: mostReferences, minScore: leastScore }
  const notes: Note[] = []
  for (const { reference } of await discovery.searchReferences(intent, asked)) {
    const { file } = reference
    if (![file, realOf(file) ?? file].every(mayRead)) continue
    const whole = await contentOf(discovery, reference)
    if (whole === undefined) continue
    const text = cutToTokens(whole, budget)
    const rest = text === whole ? "" : `\n[cut here: read ${pathForTools(file)} for the rest]`
    notes.push({ kind: "skill", name: `${skill.name}, ${reference.relativePath}`, text: text + rest })
  }
  return notes
}

/** The file may have been removed since the scan. */
async function contentOf(discovery: SkillDiscovery, reference: SkillReference): Promise<string | undefined> {
  try {
    return await discovery.getReferenceContent(reference)
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}
