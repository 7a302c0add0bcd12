// Which skills are put before the model unasked, on 164 everyday prompts and 30 skills (half of the prompts fit one, a fifth
// two, the others none), and on 60 prompts and 17 skills with long descriptions, like public ones. The numbers of `skill-fit.ts` were chosen on the lines that are even; the odd ones only judge them.
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import { createSkillDiscovery } from "#knowledge/skill/skill-discovery.ts"
import { takeFitting } from "#knowledge/skill/skill-fit.ts"
import type { SkillInfo } from "#knowledge/skill/skill-types.ts"
import { readLines } from "./retrieval-sets.ts"

type Half = "chosen on" | "judged on"
/** In percent. `precision`: of what is told, how much is wanted; `recall`: of what is wanted, how much is told. */
type Verdict = { prompts: number; told: number; precision: number; recall: number; byChance: number }
type Prompt = { query: string; gold: string[] }
type Described = { name: string; description: string; headings: string[] }

type Options = { hasVectors?: boolean; set?: "skills" | "public-skills" }

export async function judgeSkills(
  half: Half,
  { hasVectors = true, set = "skills" }: Options = {},
): Promise<Verdict> {
  const discovery = createSkillDiscovery({
    load: async () => readLines<Described>(`${set}.skills`).map(toSkill),
    ...(hasVectors ? { embedder: createEmbedder() } : {}),
  })
  const parity = half === "chosen on" ? 0 : 1
  const prompts = readLines<Prompt>(`${set}.prompts`).filter((_, at) => at % 2 === parity)
  const count = { told: 0, right: 0, wanted: 0, byChance: 0 }
  for (const { query, gold } of prompts) {
    const told = takeFitting(await discovery.search(query, { limit: 20 })).map(({ skill }) => skill.name)
    count.told += told.length
    count.right += told.filter((name) => gold.includes(name)).length
    count.wanted += gold.length
    if (!gold.length && told.length) count.byChance++
  }
  discovery.close()
  return {
    prompts: prompts.length,
    told: count.told,
    precision: (100 * count.right) / count.told,
    recall: (100 * count.right) / count.wanted,
    byChance: count.byChance,
  }
}

function toSkill({ name, description, headings }: Described): SkillInfo {
  const body = headings.map((heading) => `## ${heading}`).join("\n\n")
  const place = { file: name, place: name, folder: name, root: "/" }
  const parts = {
    metadata: {},
    allowedTools: [],
    mcp: {},
    scripts: [],
    references: [],
    assets: [],
    problems: [],
    hash: "",
  }
  return { name, description, body, isManual: false, ...place, ...parts }
}
