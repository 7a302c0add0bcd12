// Rules of subfolders: when a tool has touched a file, the model gets the instruction files of the folders from the
// root to that file. Each is sent once, as long as the model still sees it, and within a share of the window.
import { dirname, relative, resolve } from "node:path"
import { readingBy } from "#engine/rights/rights.ts"
import type { Run } from "#engine/run/run.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { cutToTokens, estimateTokens } from "#knowledge/memory/tokens.ts"
import * as Message from "#knowledge/message/message.ts"
import { createNestedRules, type RuleFile } from "#knowledge/rules/create-nested-rules.ts"
import { errorText } from "#util/error.ts"
import { insideTag } from "#util/parse/inside-tag.ts"
import { findRules } from "./find-rules.ts"
import { type Note, type RulesBudget, rulesBudget, shownNames, shownNotes } from "./notes.ts"
import { pathForTools } from "./shown-path.ts"

type Request = Message.Of<"tool_request">

const fileTools = new Set(["read", "write", "edit", "ls", "glob", "grep", "symbols"])
/** Tokens for the role, names and tags around the text. */
const frame = 40
/** How many files beyond the budget are named. One further note says that there are more. */
const maxNamed = 20
const notShown = "Not shown, to save tokens"
const further: Note = {
  kind: "rule",
  name: "*/AGENTS.md",
  text: "Further folders have rules of their own, which are not shown. Look for AGENTS.md, CLAUDE.md or GEMINI.md in a folder and above it before you change something there.",
}

const rules = Instance.state(() =>
  createNestedRules({
    root: Instance.worktree,
    onProblem: (error) => Log.warn("rules beside files cannot be read", { error: errorText(error) }),
  }),
)

/** The notes to add after the results of a request. */
export async function nestedRules(
  run: Pick<Run, "session" | "progress" | "chosen" | "permits">,
  request: Request,
): Promise<Note[]> {
  const found = rulesFor(pathsOf(run, request))
  if (!found.length) return []
  const reading = await readingBy(run.permits.rights)
  const mayRead = (path: string) => reading(path) === "allow"
  const files = await Promise.all(found.map((file) => withImports(file, mayRead)))
  const budget = rulesBudget(run.session.id, run.chosen.facts)
  const { said, named } = saidIn(run.session.id)
  let names = named
  const news = files.filter((file) => !said(noteOf(file, budget)))
  if (!news.length) return []
  const notes: Note[] = []
  for (const file of news) {
    if (!mayRead(file.path) || !mayRead(file.place)) continue
    const whole = noteOf(file, budget)
    const tokens = estimateTokens(whole.text) + frame
    const fits = tokens <= budget.nested
    if (fits) budget.nested -= tokens
    const note = fits ? whole : nameOf(file)
    if (said(note)) continue
    if (fits || names++ < maxNamed) notes.push(note)
    else if (!said(further) && !notes.includes(further)) notes.push(further)
  }
  return [...notes, ...(await linkedFrom(notes, { run, mayRead }))]
}

/** Linked documents of the files that are sent now, if they fit the person's last request. */
async function linkedFrom(
  told: readonly Note[],
  { run, mayRead }: { run: Pick<Run, "session" | "progress" | "chosen">; mayRead(path: string): boolean },
): Promise<Note[]> {
  const nested = told.filter(({ text }) => text.includes("](")).map(({ name }) => name)
  const asked = run.progress.history.findLast((one) => one.type === "text" && one.data.role === "user")
  if (!nested.length || asked?.type !== "text") return []
  const known = shownNames(run.session.id, "rule")
  const budget = rulesBudget(run.session.id, run.chosen.facts).linked
  try {
    return await findRules(Message.textOf(asked), { budget, known, mayRead, nested })
  } catch (error) {
    Log.warn("documents that rules link to were not found", { error: errorText(error) })
    return []
  }
}

/** The paths that the calls of a request have really reached. */
function pathsOf({ progress: { history } }: Pick<Run, "progress">, request: Request): string[] {
  const calls = request.data.calls.filter(({ name }) => fileTools.has(name))
  if (!calls.length) return []
  const since = history.slice(history.findLastIndex(({ id }) => id === request.id) + 1)
  const paths = since.flatMap((message) => {
    if (message.type !== "tool_result" || message.data.status !== "success") return []
    const call = calls.find(({ id }) => id === message.data.requestId)
    // The tool's result has the correct path even if the model misspelt it.
    const data = Message.dataOf(message.data) as { path?: unknown } | null | undefined
    const path = data?.path ?? (call?.arguments as { path?: unknown } | null | undefined)?.path
    return call && typeof path === "string" ? [resolve(Instance.directory, path)] : []
  })
  return [...new Set(paths)]
}

/** The instruction files for these paths, without those that the tool itself opened. */
function rulesFor(paths: string[]): RuleFile[] {
  const found = new Map<string, RuleFile>()
  for (const path of paths)
    for (const file of rules().onWayTo(path))
      if (file.path !== path && !found.has(file.place)) found.set(file.place, file)
  return [...found.values()]
}

async function withImports(file: RuleFile, mayRead: (path: string) => boolean): Promise<RuleFile> {
  if (!file.text.includes("@")) return file
  const { importRules } = await import("./import-rules.ts")
  const imports = importRules(file, { isOwn: false, mayRead })
  const texts = imports.map(({ name, text }) => `From ${name}:\n\n${text}`)
  return { ...file, text: [file.text.trim(), ...texts].join("\n\n") }
}

function noteOf(file: RuleFile, { each }: RulesBudget): Note {
  const name = relative(Instance.worktree, file.path)
  const whole = file.text.trim()
  const text = cutToTokens(whole, each)
  const isWhole = text === whole && !file.isCut
  return {
    kind: "rule",
    name,
    text: isWhole
      ? text
      : `${text}\n[cut here: read ${pathForTools(file.path)} for the rest of ${file.size} bytes]`,
  }
}

function nameOf(file: RuleFile): Note {
  const { path, size } = file
  const [own, folder] = [pathForTools(path), pathForTools(dirname(path))]
  const text = `${notShown} (${size} bytes). Read ${own} before you change something in ${folder}.`
  return { kind: "rule", name: relative(Instance.worktree, path), text }
}

/** Whether the model still sees a note, word for word, and how many files are only named. */
function saidIn(sessionId: string): { said(note: Note): boolean; named: number } {
  const shown = shownNotes(sessionId).filter(({ kind }) => kind === "rule")
  const said = ({ kind, name, text }: Note) =>
    shown.some((one) => one.name === name && one.text.endsWith(Secret.redact(insideTag(kind, text))))
  return { said, named: shown.filter(({ text }) => text.includes(`\n${notShown}`)).length }
}
