// Measures the rules on a list of requests. The model gets the schemas of the real tools; calls that read run in a
// small project, calls that change something are only recorded.
import { readFileSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from "@ai-sdk/provider"
import { createRulesModel } from "#ability/provider/rules/rules-model.ts"
import type { Slots } from "#ability/tool/run-tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { parseJsonc } from "#util/parse/jsonc.ts"
import type { Tmp } from "../../../fixture/tmpdir.ts"
import { call, inProject } from "../../tool/harness.ts"

export type Call = { tool: string; arguments: Record<string, unknown> }
export type Request = { request: string; calls?: Call[]; anyOf?: Call[][] }
export type Miss = { request: string; made: Call[]; destroys: boolean }

type Options = {
  tools?: string[]
  earlier?: LanguageModelV4Prompt
  /** What changes something is done, too. */
  slots?: Slots
  sessionId?: string
}

const maxTurns = 12
const readers = new Set(["read", "ls", "glob", "grep"])

export function loadRequests(url: URL): Request[] {
  const { value } = parseJsonc(`{ "requests": ${readFileSync(url, "utf8")} }`, url.pathname)
  return value.requests as Request[]
}

export type Driven = { made: Call[]; text: string; finish: string }

/** Those whose calls are not the expected ones. */
export async function missesIn(requests: Request[]): Promise<Miss[]> {
  const misses: Miss[] = []
  await inProject(async (tmp) => {
    fill(tmp)
    for (const one of requests) {
      const { made } = await drive(one.request)
      const wanted = one.anyOf ?? [one.calls ?? []]
      const isRight = wanted.some((calls) => fits(calls, made)) || (isEmpty(wanted) && made.every(readsOnly))
      const destroys = isEmpty(wanted) && !made.every(readsOnly)
      if (!isRight) misses.push({ request: one.request, made, destroys })
    }
  })
  return misses
}

/** Ask, do what is asked for, and again, until there is an answer. */
export async function drive(request: string, options: Options = {}): Promise<Driven> {
  const model = createRulesModel()
  const tools = [...ToolRegistry.toModelTools(options.tools)] as LanguageModelV4FunctionTool[]
  const prompt: LanguageModelV4Prompt = [
    { role: "system", content: "You are vitamin, a coding agent." },
    ...(options.earlier ?? []),
    { role: "user", content: [{ type: "text", text: request }] },
  ]
  const made: Call[] = []
  for (let turn = 0; turn < maxTurns; turn++) {
    const { content, finishReason } = await model.doGenerate({ prompt, tools })
    const calls = content.filter((part) => part.type === "tool-call")
    if (!calls.length) {
      const text = content.map((part) => (part.type === "text" ? part.text : "")).join("")
      return { made, text, finish: finishReason.raw ?? finishReason.unified }
    }
    const parts = calls.map((part) => ({ ...part, input: JSON.parse(part.input) as Call["arguments"] }))
    prompt.push({ role: "assistant", content: parts })
    for (const { toolName, toolCallId, input } of parts) {
      made.push({ tool: toolName, arguments: input })
      const result =
        readers.has(toolName) || options.slots
          ? await call(toolName, input as never, {
              ...(options.slots ? { slots: options.slots } : {}),
              sessionId: options.sessionId ?? "ses_1",
            })
          : { status: "success", text: "Done." }
      const type = result.status === "success" ? ("text" as const) : ("error-text" as const)
      prompt.push({
        role: "tool",
        content: [{ type: "tool-result", toolCallId, toolName, output: { type, value: result.text } }],
      })
    }
  }
  throw new Error(`no answer after ${maxTurns} turns: ${request}`)
}

function isEmpty(wanted: Call[][]): boolean {
  return wanted.length === 1 && wanted[0]!.length === 0
}

function readsOnly({ tool, arguments: args }: Call): boolean {
  return readers.has(tool) || (tool === "todo" && args.todos === undefined)
}

/** Sizes of files are looked up with `ls`, and a file is read before it is made, which no list of calls knows of. */
function fits(wanted: Call[], all: Call[]): boolean {
  const made = all.filter(
    (one, i) =>
      !(
        one.tool === "read" &&
        /^(?:write|edit)$/.test(all[i + 1]?.tool ?? "") &&
        all[i + 1]!.arguments.path === one.arguments.path &&
        wanted.every(({ tool }, at) => tool !== "read" || at !== i)
      ),
  )
  if (matches(wanted, all) || matches(wanted, made)) return true
  const first = made.findIndex(({ tool }) => tool === "glob" || tool === "grep")
  const plain = made.filter(({ tool }, i) => tool !== "ls" || i < first || first < 0)
  return plain.length < made.length && matches(wanted, plain)
}

function matches(wanted: Call[], made: Call[]): boolean {
  return (
    wanted.length === made.length &&
    wanted.every(({ tool, arguments: args }, i) => {
      return tool === made[i]!.tool && equal(normal(tool, args), normal(tool, made[i]!.arguments))
    })
  )
}

function normal(tool: string, args: Record<string, unknown>): Record<string, unknown> {
  const { path, ...rest } = args
  const kept = { ...rest, ...(path === undefined || path === "." ? {} : { path }) } as Record<string, unknown>
  if (tool !== "grep") return kept
  const { ignoreCase: _, context: __, limit: ___, fixed, ...own } = kept
  return /[.*+?^${}()|[\]\\]/.test(String(own.pattern)) && fixed ? { ...own, fixed } : own
}

function equal(wanted: unknown, made: unknown): boolean {
  if (wanted === "$any") return typeof made === "string" && made !== ""
  if (Array.isArray(wanted))
    return (
      Array.isArray(made) && wanted.length === made.length && wanted.every((one, i) => equal(one, made[i]))
    )
  if (typeof wanted !== "object" || wanted === null) return isDeepStrictEqual(wanted, made)
  if (typeof made !== "object" || made === null) return false
  const [one, other] = [wanted as Record<string, unknown>, made as Record<string, unknown>]
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => equal(one[key], other[key]))
}

/** A project in which requests of the usual kinds find something. */
export function fill(tmp: Tmp) {
  const code =
    'import { x } from "./x.ts"\n// TODO: tidy up\nexport function parseConfig() {\n  return foo\n}\n'
  for (const name of ["index", "app", "api", "config", "changed", "util", "main", "server", "util.test"])
    tmp.write(`src/${name}.ts`, code.repeat(name.length))
  for (const name of ["guide", "intro", "api"])
    tmp.write(`docs/${name}.md`, `# ${name}\n`.repeat(name.length))
  for (const name of ["app", "util"]) tmp.write(`test/${name}.test.ts`, "// FIXME\n".repeat(name.length))
  for (const name of ["a.txt", "b.txt", "notes.txt", "README.md", "CHANGELOG.md", ".gitignore", "lib/a.js"])
    tmp.write(name, `${name}\n`.repeat(20))
  tmp.write("package.json", '{ "name": "fixture" }\n')
}
