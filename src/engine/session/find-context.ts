// What a prompt should know beside its words: the plan of its session, the project's documents and the skills that fit
// it. They are looked for only where a quick look says that there is something, and loaded only then.
import type { AgentDefinition } from "#ability/agent/agent.ts"
import type { ModelFacts } from "#ability/provider/provider.ts"
import { hasSkills } from "#ability/skill/skill-places.ts"
import * as Config from "#kernel/config/config.ts"
import * as Log from "#kernel/log.ts"
import { isRuleName } from "#knowledge/discovery/create-nested-rules.ts"
import { errorText } from "#util/error.ts"
import { findRules, mayHaveRules } from "./find-rules.ts"
import { hasPlan } from "./has-plan.ts"
import { inform, informed, type Note } from "./inform.ts"
import { readingBy } from "./reading-by.ts"
import type { Rights } from "./rights.ts"
import { contextOf } from "./room.ts"
import type { Run } from "./run.ts"

type Asked = {
  intent: string
  agent: AgentDefinition
  facts: ModelFacts | undefined
  rights: Rights
  /** The words are those of a model that gives a task. */
  isTask?: boolean
}

/** What the instructions of skills may have of the model's window, and the most that is good to read. */
const skillShare = 0.1
const maxSkillTokens = 8_000

/** To be called when the person's words, and what is attached to them, are in the history. */
export async function findContext(
  run: Pick<Run, "session" | "history" | "records">,
  asked: Asked,
): Promise<void> {
  const { id } = run.session
  if (await hasPlan(id)) inform(run, await orNothing(() => planFor(id)))
  if (!asked.intent.trim()) return
  inform(run, await orNothing(() => rulesFor(id, asked)))
  inform(run, await orNothing(() => skillsFor(id, asked)))
}

async function planFor(sessionId: string): Promise<Note[]> {
  const { findPlan } = await import("./find-plan.ts")
  return findPlan(sessionId)
}

async function rulesFor(sessionId: string, { intent, facts, rights }: Asked): Promise<Note[]> {
  const known = informed(sessionId, "rule")
  // The model works in these folders: what their files link to counts like what the root's does.
  const nested = [...known].filter(isRuleName)
  if (!nested.length && !(await mayHaveRules())) return []
  const reading = await readingBy(rights)
  const mayRead = (path: string) => reading(path) === "allow"
  const { rulesBudget } = await import("./rules-budget.ts")
  return findRules(intent, { budget: rulesBudget(sessionId, facts).linked, known, mayRead, nested })
}

async function skillsFor(sessionId: string, asked: Asked): Promise<Note[]> {
  const { intent, agent, facts, isTask = false } = asked
  const { skills } = await Config.get()
  if (!hasSkills(skills?.root)) return []
  const { findSkills } = await import("./find-skills.ts")
  const share = Math.floor(contextOf(facts) * skillShare)
  const known = informed(sessionId, "skill")
  const reading = await readingBy(asked.rights)
  const budget = Math.min(maxSkillTokens, share)
  return findSkills(intent, { agent, budget, known, reading, isTask })
}

/** A failing lookup must not fail the prompt. */
async function orNothing(find: () => Promise<Note[]>): Promise<Note[]> {
  try {
    return await find()
  } catch (error) {
    Log.warn("what could help with the prompt was not found", { error: errorText(error) })
    return []
  }
}
