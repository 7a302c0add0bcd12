// Reads the agents of a folder, file by file in order of name. An unusable file is reported and does not affect the others.
import { readdir } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, sep } from "node:path"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import { isAgentFile } from "#kernel/reviewed/places.ts"
import * as Reviewed from "#kernel/reviewed/reviewed.ts"
import type { Rule } from "#kernel/schema/schema.ts"
import { errorCode, errorText, NamedError } from "#util/error.ts"
import { isAbsent, statOf } from "#util/file/path-info.ts"
import { ownCommand } from "#util/own-command.ts"
import type { AgentDefinition } from "./agent.ts"
import { type Content, type Ignored, problemOf, readAgentFile } from "./read-agent-file.ts"

export type Problem = { file: string; message: string }
/** The outcome of reading a folder; `registered` are ids. */
export type Scanned = { registered: string[]; problems: Problem[]; ignored: Ignored[] }
export type Scan = {
  agents: { agent: AgentDefinition; file: string; isTrusted: boolean }[]
  problems: Problem[]
  ignored: Ignored[]
  /** The folder is trusted. Single files in it may still wait for review. */
  trusted: boolean
  /** Deny and ask rules of files that changed or are gone since they were reviewed. */
  narrowing: Reviewed.Narrowing[]
}

/** Up to this many ignored settings of untrusted folders are reported one by one, more in one line. */
const maxNamed = 3
/** No project needs more, and a hostile folder could have a million files. */
const maxFiles = 500
const maxBytes = 4 << 20

export class FolderNotFound extends NamedError {
  constructor(folder: string) {
    super("Agent.FolderNotFound", `Folder ${JSON.stringify(folder)} does not exist.`, { folder })
  }
}

/** A folder below `worktree` is trusted if `worktree` is; any other folder needs a review of its own. `known` are the
 * reviewed files of `worktree`, if the caller has read them. */
export async function scanAgents(
  folder: string,
  worktree: string | undefined,
  known?: Reviewed.Reviewed,
): Promise<Scan> {
  const problems: Problem[] = []
  const names = await namesIn(folder, problems)
  const reviewed = await reviewedIn(folder, worktree, known)
  const trusted = reviewed?.isTrusted ?? true
  const scan: Scan = { agents: [], problems, ignored: [], trusted, narrowing: [] }
  const reading: Promise<[file: string, content: Content]>[] = []
  let bytes = 0
  for (const [i, name] of names.entries()) {
    const file = join(folder, name)
    bytes += statOf(file)?.size ?? 0
    if (i >= maxFiles || bytes > maxBytes) {
      const message = `more than ${maxFiles} files or ${maxBytes} bytes of agents; ${name} and later files are ignored`
      scan.problems.push({ file: folder, message })
      break
    }
    // Files are read concurrently, so that imports that never settle share one time limit.
    const content = readAgentFile(file, reviewed).catch(unusable)
    reading.push(content.then((found) => [file, found]))
  }
  for (const [file, content] of await Promise.all(reading)) take(scan, file, content)
  if (reviewed) scan.narrowing = narrowingIn(folder, scan, reviewed)
  return scan
}

/** The deny and ask rules of reviewed agent files whose folder was removed. */
export function narrowingWithout(folder: string, reviewed: Reviewed.Reviewed): Reviewed.Narrowing[] {
  return folder === ownFolder() ? [] : narrowingIn(folder, { agents: [] }, reviewed)
}

/** A text that changes whenever a file of the folder changes. Then the folder must be scanned again. */
export async function stampOf(folder: string): Promise<string> {
  const names = (await namesIn(folder, []).catch(() => undefined)) ?? []
  const marks = names.slice(0, maxFiles).map((name) => {
    const { ino, size, mtimeMs, ctimeMs } = statOf(join(folder, name)) ?? {}
    return [name, ino, size, mtimeMs, ctimeMs]
  })
  return JSON.stringify([names.length, marks])
}

/** The person's own folder of agents, for all projects. It is trusted. */
export function ownFolder(): string {
  return join(Global.config(), "agents")
}

/** Undefined for the person's own folder. */
async function reviewedIn(
  folder: string,
  worktree: string | undefined,
  known: Reviewed.Reviewed | undefined,
): Promise<Reviewed.Reviewed | undefined> {
  if (folder === ownFolder()) return undefined
  if (known && isBelow(known.root, folder)) return known
  if (worktree === undefined || !isBelow(worktree, folder)) return Reviewed.of(folder)
  return known ?? Reviewed.of(worktree)
}

function narrowingIn(
  folder: string,
  { agents }: Pick<Scan, "agents">,
  reviewed: Reviewed.Reviewed,
): Reviewed.Narrowing[] {
  const inForce = new Set(agents.flatMap(({ file, isTrusted }) => (isTrusted ? [file] : [])))
  const files = reviewed.paths().filter((path) => isBelow(folder, path) && !inForce.has(path))
  return files.map((path) => reviewed.narrowing(path))
}

function take(scan: Scan, file: string, { agents, ignored, problem, isTrusted = false }: Content): void {
  if (problem) scan.problems.push({ file, message: problem })
  scan.ignored.push(...ignored)
  for (const agent of agents) {
    const first = scan.agents.find((other) => other.agent.id === agent.id)
    if (!first) scan.agents.push({ agent, file, isTrusted })
    else {
      const message = `the id ${JSON.stringify(agent.id)} is already used in ${first.file}; this agent is ignored`
      scan.problems.push({ file, message })
    }
  }
}

function unusable(error: unknown): Content {
  return { agents: [], ignored: [], problem: problemOf(error) }
}

async function namesIn(folder: string, problems: Problem[]): Promise<string[]> {
  if (isAbsent(folder)) throw new FolderNotFound(folder)
  try {
    const names = await readdir(folder)
    return names.filter((name) => isAgentFile(join(folder, name))).sort()
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") throw new FolderNotFound(folder)
    problems.push({ file: folder, message: errorText(error) })
    return []
  }
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Warns about ignored settings of agent files. `said` holds what was logged, so that nothing is logged twice. */
export function reportIgnored(found: { trusted: Ignored[]; untrusted: Ignored[] }, said: Set<string>): void {
  const { trusted, untrusted } = found
  const isMany = untrusted.length > maxNamed
  const once = (text: string, fields: Log.Fields, log = Log.warn) => {
    const key = JSON.stringify([text, fields])
    if (!said.has(key)) log(text, fields)
    said.add(key)
  }
  for (const { file, key, reason } of trusted) once(`${key} is ignored: ${reason}`, { file })
  for (const { file, key, reason } of untrusted)
    once(`${key} is ignored: ${reason}`, { file }, isMany ? Log.info : Log.warn)
  if (!isMany) return
  const files = new Set(untrusted.map(({ file }) => file))
  const folders = new Set([...files].map((file) => relative(Instance.worktree, dirname(file))))
  once(
    `${untrusted.length} settings in ${files.size === 1 ? "an agent file" : `${files.size} agent files`} are ignored: the folder is not trusted; "${ownCommand} trust" reviews the files, VITAMIN_LOG=info lists the settings`,
    { folders: [...folders].join(", ") },
  )
}

/** Deny and ask rules of a reviewed agent file stay in force after the file changed, until the change is reviewed. They
 * apply to whichever agent has that id now. An ask rule never overrides a deny rule of the changed file. */
export function narrow<E extends { agent: AgentDefinition; foreign?: boolean }>(
  narrowing: Record<string, Rule[]>,
  agents: Map<string, E>,
  before: ReadonlyMap<string, E>,
): void {
  for (const [id, rules] of Object.entries(narrowing)) {
    const entry = agents.get(id) ?? before.get(id)
    if (!entry) continue
    const own = entry.agent.permissions
    const asks = rules.filter(({ action }) => action === "ask")
    const denies = rules.filter(({ action }) => action === "deny")
    const others = entry.foreign ? [...asks, ...own] : [...own, ...asks]
    const agent = Object.freeze({ ...entry.agent, permissions: [...others, ...denies] })
    agents.set(id, { ...entry, agent })
  }
}

/** Adds the agents of a scan to `target`. An unreviewed file replaces no agent that is `present`. */
export function takeScan(
  scan: Scan,
  target: Map<string, { agent: AgentDefinition; file?: string; foreign?: boolean }>,
  present: ReadonlyMap<string, { foreign?: boolean }>,
): Scanned {
  const { agents, problems, ignored } = scan
  const registered: string[] = []
  for (const { agent, file, isTrusted } of agents) {
    const before = present.get(agent.id)
    if (!isTrusted && before && !before.foreign) {
      const reason = scan.trusted
        ? `an unreviewed file cannot replace an agent; "${ownCommand} trust" shows it`
        : `an untrusted folder cannot replace an existing agent; "${ownCommand} trust" trusts it`
      ignored.push({ file, key: `agent ${agent.id}`, reason })
      continue
    }
    target.set(agent.id, { agent, file, foreign: !isTrusted })
    registered.push(agent.id)
  }
  return { registered, problems, ignored }
}
