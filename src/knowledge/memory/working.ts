// Working memory: the state of a task, collected from the messages of its session: requests, files read and changed,
// commands and their outcome, refusals. All of it is bounded.
import * as Message from "#knowledge/message/message.ts"
import { cut, isLong } from "./shorten.ts"
import { outputText } from "./tokens.ts"

type Call = Message.Call
type Result = Message.Of<"tool_result">["data"]
type File = { path: string; read: number; changed: number; last: string }
type Todo = { text: string; status: string }

export type State = {
  /** What the person wrote first, and last. */
  goal: string
  request: string
  /** Everything that the person wrote. */
  words: Message.Of<"text">[]
  /** Those that were used last come last. */
  files: File[]
  commands: { command: string; outcome: string }[]
  results: { tool: string; status: Result["status"]; text: string }[]
  references: Message.Of<"file_reference">[]
  resources: Message.Of<"mcp_resource">[]
  /** Calls that a person has not decided on, or has refused. */
  undecided: Call[]
  refused: Call[]
  todos: Todo[]
  /** The last words of the model. */
  said: string
}
export type Working = ReturnType<typeof createWorking>

const most = {
  files: 500,
  commands: 100,
  results: 20,
  references: 100,
  resources: 100,
  calls: 50,
  others: 200,
}
const longestResult = 2_000
const changes: Record<string, string> = { write: "written", edit: "edited" }

/** The working memory of a growing list of messages. It is built again if `messages` returns another list. */
export function createWorking(messages: () => readonly Message.Info[]) {
  let list = messages()
  let gathering = begin()
  let seen = 0

  function state(): State {
    const now = messages()
    if (now !== list) {
      list = now
      gathering = begin()
      seen = 0
    }
    for (const message of list.slice(seen)) add(gathering, message)
    seen = list.length
    return stateOf(gathering)
  }

  return Object.freeze({ state })
}

/** The state of the task after these messages. */
export function workingState(messages: readonly Message.Info[]): State {
  const gathering = begin()
  for (const message of messages) add(gathering, message)
  return stateOf(gathering)
}

type Gathering = Omit<State, "files" | "goal" | "request" | "undecided" | "refused"> & {
  files: Map<string, File>
  open: Map<string, Call>
  /** Calls that were not allowed at once. Their message gets the decision later. */
  judged: Call[]
  /** Calls whose changes are added to their message when they have ended. */
  others: Call[]
}

function begin(): Gathering {
  return {
    words: [],
    files: new Map(),
    commands: [],
    results: [],
    references: [],
    resources: [],
    todos: [],
    said: "",
    open: new Map(),
    judged: [],
    others: [],
  }
}

function stateOf({ files, open: _, judged, others, ...rest }: Gathering): State {
  const all = new Map(files)
  for (const call of others)
    for (const path of changedBy(call)) addFile(all, path, { changed: `by ${call.name}` })
  return {
    ...rest,
    goal: wordsOf(rest.words[0]),
    request: wordsOf(rest.words.at(-1)),
    files: [...all.values()],
    undecided: judged.filter(({ approval }) => approval === "pending"),
    refused: judged.filter(({ approval, invalid }) => approval === "denied" && invalid === undefined),
  }
}

function add(gathering: Gathering, message: Message.Info): void {
  switch (message.type) {
    case "text":
      if (message.data.role === "user") gathering.words.push(message)
      if (message.data.role === "assistant") gathering.said = wordsOf(message) || gathering.said
      break
    case "file_reference":
      keepLast(gathering.references, message, most.references)
      break
    case "mcp_resource":
      if (message.data.error === undefined) keepLast(gathering.resources, message, most.resources)
      break
    case "tool_request":
      for (const call of message.data.calls) {
        gathering.open.set(call.id, call)
        if (call.approval !== "approved") keepLast(gathering.judged, call, most.calls)
        if (!Object.hasOwn(changes, call.name)) keepLast(gathering.others, call, most.others)
      }
      break
    case "tool_result":
      addResult(gathering, message.data)
  }
}

function addResult(gathering: Gathering, data: Result): void {
  const call = gathering.open.get(data.requestId)
  gathering.open.delete(data.requestId)
  const text = outputText(data)
  const short = isLong(text, longestResult) ? cut(text, longestResult) : text
  keepLast(gathering.results, { tool: data.toolName, status: data.status, text: short }, most.results)
  const told = (Message.dataOf(data) ?? {}) as { path?: unknown; todos?: unknown; exitCode?: unknown }
  const given = (call?.arguments ?? {}) as { path?: unknown; command?: unknown }
  if (typeof given.command === "string")
    keepLast(
      gathering.commands,
      { command: given.command, outcome: outcomeOf(data, told.exitCode) },
      most.commands,
    )
  if (data.status !== "success") return
  if (data.toolName === "todo" && Array.isArray(told.todos)) gathering.todos = told.todos as Todo[]
  const path = [told.path, given.path].find((one) => typeof one === "string")
  if (path === undefined) return
  const title = data.metadata?.title
  if (Object.hasOwn(changes, data.toolName))
    addFile(gathering.files, path, { changed: typeof title === "string" ? title : changes[data.toolName]! })
  else if (data.toolName === "read") addFile(gathering.files, path, {})
}

function addFile(files: Map<string, File>, path: string, { changed }: { changed?: string }): void {
  const before = files.get(path) ?? { path, read: 0, changed: 0, last: "" }
  files.delete(path)
  files.set(path, {
    path,
    read: before.read + (changed ? 0 : 1),
    changed: before.changed + (changed ? 1 : 0),
    last: changed ?? before.last,
  })
  if (files.size > most.files) files.delete(leastOf(files).path)
}

/** Changed files matter more than files that were only read. */
function leastOf(files: Map<string, File>): File {
  for (const file of files.values()) if (file.changed === 0) return file
  return files.values().next().value!
}

/** The snapshot around a command shows what it changed. */
export function changedBy({ snapshot }: Call): string[] {
  const { files } = (snapshot ?? {}) as { files?: { path?: unknown }[] }
  if (!Array.isArray(files)) return []
  return files.slice(0, most.calls).flatMap(({ path }) => (typeof path === "string" ? [path] : []))
}

function outcomeOf({ status, output }: Result, exitCode: unknown): string {
  if (status === "interrupted") return "interrupted"
  if (status === "error") return `failed: ${outputText({ output }).split("\n", 1)[0]!.slice(0, 200)}`
  return typeof exitCode === "number" && exitCode !== 0 ? `exit code ${exitCode}` : "ok"
}

export function wordsOf(message: Message.Of<"text"> | undefined): string {
  const parts = message?.data.parts.filter(({ type }) => type === "text") ?? []
  return parts.map(({ text }) => text).join("\n\n")
}

function keepLast<T>(list: T[], item: T, limit: number): void {
  list.push(item)
  if (list.length > limit) list.shift()
}
