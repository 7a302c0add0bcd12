// Collects context for a prompt: the plan of its session, and the project's documents and skills that fit it. Each
// search is loaded and run only if a quick check finds something to search.
import { hasSkills } from "#ability/skill/skill-places.ts"
import { readingBy } from "#engine/rights/rights.ts"
import { contextOf } from "#engine/run/budget.ts"
import type { Settled } from "#engine/run/run.ts"
import * as Config from "#kernel/config/config.ts"
import * as Log from "#kernel/process/log.ts"
import * as Memory from "#knowledge/memory/memory.ts"
import { isRuleName } from "#knowledge/rules/create-nested-rules.ts"
import { errorText } from "#util/error.ts"
import { findRules, mayHaveRules } from "./find-rules.ts"
import { addNotes, type Note, rulesBudget, shownNames } from "./notes.ts"

type Asked = Pick<Settled, "session" | "progress" | "intent" | "agent" | "chosen" | "permits" | "parent">

/** The share of the model's window for instructions of skills, and the most tokens that are useful. */
const skillShare = 0.1
const maxSkillTokens = 8_000

/** Must be called when the prompt and its attachments are in the history. */
export async function findContext(asked: Asked): Promise<void> {
  const { id } = asked.session
  if (await hasPlan(id)) addNotes(asked, await orNothing(() => planFor(id)))
  if (!asked.intent.trim()) return
  addNotes(asked, await orNothing(() => rulesFor(id, asked)))
  addNotes(asked, await orNothing(() => skillsFor(id, asked)))
}

async function planFor(sessionId: string): Promise<Note[]> {
  const { findPlan } = await import("./find-plan.ts")
  return findPlan(sessionId)
}

async function rulesFor(sessionId: string, { intent, chosen, permits }: Asked): Promise<Note[]> {
  const known = shownNames(sessionId, "rule")
  // The model works in these folders, so links in their instruction files count like those of the root.
  const nested = [...known].filter(isRuleName)
  if (!nested.length && !(await mayHaveRules())) return []
  const reading = await readingBy(permits.rights)
  const mayRead = (path: string) => reading(path) === "allow"
  return findRules(intent, { budget: rulesBudget(sessionId, chosen.facts).linked, known, mayRead, nested })
}

async function skillsFor(sessionId: string, asked: Asked): Promise<Note[]> {
  const { intent, agent, chosen, permits, parent } = asked
  const { skills } = await Config.get()
  if (!hasSkills(skills?.root)) return []
  const { findSkills } = await import("./find-skills.ts")
  const share = Math.floor(contextOf(chosen.facts) * skillShare)
  const known = shownNames(sessionId, "skill")
  const reading = await readingBy(permits.rights)
  const budget = Math.min(maxSkillTokens, share)
  return findSkills(intent, { agent, budget, known, reading, isTask: parent !== undefined })
}

/** A failing lookup must not fail the prompt. */
async function orNothing(find: () => Promise<Note[]>): Promise<Note[]> {
  try {
    return await find()
  } catch (error) {
    Log.warn("context for the prompt could not be collected", { error: errorText(error) })
    return []
  }
}

/** A quick check whether a session ever wrote a plan: in its loaded messages, or, if older ones were compacted, by
 * the record of the plan. */
export async function hasPlan(sessionId: string): Promise<boolean> {
  const messages = Memory.shortTerm(sessionId).messages()
  if (messages.some(({ type, data }) => type === "tool_result" && data.toolName === "todo")) return true
  if (!messages[0]?.parentId) return false
  const TodoList = await import("#ability/plan/todo-list.ts")
  return TodoList.isKept(sessionId)
}
