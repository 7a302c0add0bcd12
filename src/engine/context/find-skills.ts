// Finds the skills for a prompt: those that the person or the agent names, then those that fit the request, each with
// its instructions, and a line for each of the others. Instructions that exceed the budget are cut; the model can
// read the file.
import { createHash } from "node:crypto"
import { dirname, join } from "node:path"
import type { AgentDefinition } from "#ability/agent/agent.ts"
import type { Added } from "#ability/mcp/load-servers.ts"
import type { Action } from "#ability/permission/rule.ts"
import { askedSkills } from "#ability/skill/asked-skills.ts"
import * as Skill from "#ability/skill/skill.ts"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import { createEmbedder } from "#knowledge/embedder/create-embedder.ts"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { noteIndexUse } from "#knowledge/index/note-index-use.ts"
import { pruneIndexes } from "#knowledge/index/prune-indexes.ts"
import { estimateTokens } from "#knowledge/memory/tokens.ts"
import { createSkillDiscovery, type SkillDiscovery } from "#knowledge/skill/skill-discovery.ts"
import { takeFitting } from "#knowledge/skill/skill-fit.ts"
import { errorText } from "#util/error.ts"
import type { Note } from "./notes.ts"
import { listName, listNote, nameNote, referenceNotes, skillNote } from "./skill-notes.ts"

export type Options = {
  agent: AgentDefinition
  /** Tokens for the instructions of all skills of a prompt; half as many for the list of the others. */
  budget: number
  /** Names of the notes about skills that the model still sees. */
  known?: ReadonlySet<string>
  /** Whether the person's rules allow reading a file. */
  reading?: (path: string) => Action
  /** The prompt comes from a model, which cannot call skills that are reserved for people. */
  isTask?: boolean
}

const minBudget = 200
/** More than needed, because some skills may be for people only, or unreadable. */
const candidates = 20

type Finder = {
  discovery: SkillDiscovery
  /** The skills at the last scan. */
  skills: Skill.Info[]
}

const found = Instance.state(
  (): { finder?: Finder; embedder?: string; dbPath?: string } => ({}),
  ({ finder, dbPath }) => {
    finder?.discovery.close()
    if (dbPath) pruneIndexes(dirname(dbPath))
  },
)

export async function findSkills(intent: string, options: Options): Promise<Note[]> {
  const { agent, budget, known, isTask } = options
  const finder = await lookAgain(options)
  const { skills } = finder
  if (!skills.length || budget < minBudget) return []
  const callable = isTask ? skills.filter(({ isManual }) => !isManual) : skills
  const named = namedSkills(intent, agent, callable)
  const wanted = [...named, ...(await fittingSkills(intent, finder))]
  const used = wanted.filter(({ name }, i) => wanted.findIndex((other) => other.name === name) === i)
  const notes: Note[] = []
  let left = budget
  for (const skill of used) {
    // Always cut at the same place: the note that the model still sees is recognised by its text.
    const note = skillNote(skill, budget)
    const tokens = estimateTokens(note.text)
    if (tokens > left) {
      if (!known?.has(skill.name)) notes.push(nameNote(skill))
      continue
    }
    notes.push(note)
    left -= tokens
    for (const one of await referencesOf(skill, { intent, finder, options })) {
      const tokens = estimateTokens(one.text)
      if (tokens > left) continue
      notes.push(one)
      left -= tokens
    }
  }
  await startSkillServers(used)
  const names = new Set(used.map(({ name }) => name))
  const others = skills.filter(({ name, isManual }) => !isManual && !names.has(name))
  if (!others.length || known?.has(listName)) return notes
  return [listNote(await inOrder(intent, finder), Math.floor(budget / 2)), ...notes]
}

/** Scans again. Returns the skills that may be read. */
async function lookAgain(options: Options): Promise<Finder> {
  const finder = await finderFor()
  await finder.discovery.refresh()
  const skills = finder.skills.filter((skill) => [skill.file, skill.place].every(mayRead(skill, options)))
  return { ...finder, skills }
}

/** The person's own skills lie outside the work tree, so only a deny rule applies to them. */
function mayRead({ isOwn }: Skill.Info, { reading = () => "allow" }: Options): (path: string) => boolean {
  return (path) => {
    const action = reading(path)
    return action === "allow" || (isOwn && action === "ask")
  }
}

async function referencesOf(
  skill: Skill.Info,
  { intent, finder, options }: { intent: string; finder: Finder; options: Options },
): Promise<Note[]> {
  if (!skill.references.length) return []
  return referenceNotes(intent, {
    discovery: finder.discovery,
    skill,
    budget: Math.floor(options.budget / 4),
    mayRead: mayRead(skill, options),
  })
}

/** Uses the embedder that is configured now. Vectors are cached in a file, unless the embedder makes one in
 * microseconds. */
async function finderFor(): Promise<Finder> {
  const { getEmbedder } = await import("#ability/provider/get-embedder.ts")
  const embedder = (await getEmbedder()) ?? embeddedOne()
  const own = found()
  if (own.finder && own.embedder === embedder?.id) return own.finder
  own.finder?.discovery.close()
  const load = async () => {
    finder.skills = (await Skill.list()).skills
    return finder.skills
  }
  const dbPath = embedder && !embedder.pieces ? indexFile() : undefined
  const discovery = createSkillDiscovery({
    load,
    ...(embedder ? { embedder } : {}),
    ...(dbPath ? { dbPath } : {}),
  })
  const finder: Finder = { discovery, skills: [] }
  Object.assign(own, { finder, embedder: embedder?.id, dbPath })
  return finder
}

function indexFile(): string {
  const id = createHash("sha256").update(Instance.worktree).digest("hex").slice(0, 40)
  const path = join(Global.cache(), "skills", `${id}.db`)
  noteIndexUse(path, Instance.worktree)
  return path
}

/** Used if the configured embedder cannot be used. Without it, a search by words still finds most skills. */
function embeddedOne(): Embedder | undefined {
  try {
    const embedder = createEmbedder()
    embedder.embedNow?.("skill")
    return embedder
  } catch (error) {
    Log.warn("skills are found by their words alone", { error: errorText(error) })
    return undefined
  }
}

/** Named by the person first, then by the agent. */
function namedSkills(intent: string, agent: AgentDefinition, skills: Skill.Info[]): Skill.Info[] {
  const byName = new Map(skills.map((skill) => [skill.name, skill]))
  for (const name of agent.skills)
    if (!byName.has(name)) Log.warn(`agent ${agent.id} names the skill ${name}, which does not exist`)
  const names = [...askedSkills(intent, [...byName.keys()]), ...agent.skills]
  return names.flatMap((name) => byName.get(name) ?? [])
}

async function fittingSkills(intent: string, { discovery, skills }: Finder): Promise<Skill.Info[]> {
  const usable = new Map(skills.flatMap((skill) => (skill.isManual ? [] : [[skill.name, skill]])))
  const matches = await discovery.search(intent, { limit: candidates })
  const fitting = takeFitting(matches.filter(({ skill }) => usable.has(skill.name)))
  return fitting.flatMap(({ skill }) => usable.get(skill.name) ?? [])
}

/** All skills that a model may choose from; if they are too many for the list, the best matches first. */
async function inOrder(intent: string, { discovery, skills: all }: Finder): Promise<Skill.Info[]> {
  const skills = all.filter(({ isManual }) => !isManual)
  const fits = new Map(
    (await discovery.search(intent, { limit: skills.length })).map(({ skill, fit }) => [skill.name, fit]),
  )
  return skills.sort((a, b) => (fits.get(b.name) ?? 0) - (fits.get(a.name) ?? 0))
}

/** The MCP servers of skills in use. They start with the configured ones, before the next request; servers of an
 * untrusted folder never start. */
async function startSkillServers(skills: readonly Skill.Info[]): Promise<void> {
  const bringing = skills.filter(({ mcp, isTrusted }) => isTrusted && Object.keys(mcp).length > 0)
  if (!bringing.length) return
  const { addServers } = await import("#ability/mcp/if-configured.ts")
  const { entriesOf, InvalidEntry } = await import("#ability/mcp/load-servers.ts")
  const added: Added[] = []
  for (const { mcp, name, folder, isOwn } of bringing)
    try {
      for (const [id, entry] of entriesOf(mcp))
        added.push({ id, entry, source: `skill ${name}`, folder, isOwn })
    } catch (error) {
      if (!(error instanceof InvalidEntry)) throw error
      Log.warn(`the MCP servers of the skill ${name} are not used: ${error.message}`)
    }
  await addServers(added)
}
