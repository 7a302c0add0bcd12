// The note about a skill: its instructions, with paths to its files that tools can open; or one line for each of many
// skills.
import type * as Skill from "#ability/skill/skill.ts"
import { linesWithin, oneLine } from "#engine/run/fit-tokens.ts"
import { cutToTokens } from "#knowledge/memory/cut-to-tokens.ts"
import { estimateTokens } from "#knowledge/memory/estimate-tokens.ts"
import { quoteWord } from "#util/quote-word.ts"
import type { Note } from "./inform.ts"
import { pathForTools } from "./path-for-tools.ts"

/** A name that no skill can have. */
export const listName = "all, in a line each"
const maxFiles = 40
/** The blank lines between the parts. */
const frame = 4
const maxLine = 360
const maxList = 2_000

/** At most so many tokens. */
export function skillNote(skill: Skill.Info, budget: number): Note {
  const files = filesOf(skill)
  const { body, name, file } = skill
  const rest = `[cut here: read ${pathForTools(file)} for the rest]`
  const room = budget - estimateTokens(files) - estimateTokens(rest) - frame
  const kept = cutToTokens(body, Math.max(0, room))
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
