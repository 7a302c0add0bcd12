// Documents that a skill links to: those that the prompt is about are sent with the skill's instructions, the others
// are only named.
import type * as Skill from "#ability/skill/skill.ts"
import { Unreadable } from "#knowledge/index/read-document.ts"
import { cutToTokens } from "#knowledge/memory/cut-to-tokens.ts"
import type { SkillDiscovery } from "#knowledge/skill/skill-discovery.ts"
import type { SkillReference } from "#knowledge/skill/skill-types.ts"
import { realOf } from "#util/file/real-of.ts"
import type { Note } from "./inform.ts"
import { pathForTools } from "./path-for-tools.ts"

/** Measured: relevant and irrelevant links are far apart; this threshold is between them. */
const nearEnough = 0.5
const most = 2

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
  const asked = { skillName: skill.name, limit: most, minScore: nearEnough }
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
