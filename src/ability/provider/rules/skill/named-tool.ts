// Calls a tool of the project if the request has its name and arguments.
import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider"
import type { Clause } from "#ability/provider/rules/words/clause.ts"
import type { Call, Json, Proposal } from "./proposal.ts"

type Schema = { properties?: Record<string, { type?: unknown }>; required?: string[] }

export function namedTool(clause: Clause, tools: LanguageModelV4FunctionTool[]): Proposal | undefined {
  const tool = tools.find(({ name }) => clause.words.slice(0, 12).includes(name.toLowerCase()))
  if (!tool) return undefined
  const { properties = {}, required = [] } = tool.inputSchema as Schema
  const args = jsonIn(clause) ?? argumentsIn(clause, properties, required)
  const missing = required.filter((name) => !Object.hasOwn(args, name))
  if (!missing.length) return { calls: [{ tool: tool.name, args }] }
  const refusal = `${tool.name} needs ${missing.join(", ")}: use ${tool.name} with ${missing.map((name) => `${name} "…"`).join(" and ")}`
  return { calls: [], refusal }
}

function jsonIn({ quotes }: Clause): Call["args"] | undefined {
  for (const { text } of quotes) {
    if (!text.trimStart().startsWith("{")) continue
    try {
      return JSON.parse(text) as Call["args"]
    } catch {
      // Not JSON after all.
    }
  }
  return undefined
}

/** `city Paris`, `city: Paris`, `city=Paris`, or the only quoted text for the only required argument. */
function argumentsIn(
  clause: Clause,
  properties: NonNullable<Schema["properties"]>,
  required: string[],
): Call["args"] {
  const args: Call["args"] = {}
  for (const [name, { type }] of Object.entries(properties)) {
    const joined = clause.tokens.find(({ lower }) => lower.startsWith(`${name.toLowerCase()}=`))
    const at = clause.words.indexOf(name.toLowerCase())
    const behind = at < 0 ? [] : clause.tokens.slice(at + 1, at + 3)
    const after = behind.find(({ kind, lower }) => kind !== "mark" && lower !== "is" && lower !== "=")
    const text = joined ? joined.text.slice(name.length + 1) : after?.text
    if (text !== undefined) args[name] = typed(text, type)
  }
  const [only] = required
  if (required.length === 1 && !Object.hasOwn(args, only!) && clause.quotes.length === 1)
    args[only!] = typed(clause.quotes[0]!.text, properties[only!]?.type)
  return args
}

function typed(text: string, type: unknown): Json {
  if ((type === "number" || type === "integer") && text.trim() && Number.isFinite(Number(text)))
    return Number(text)
  if (type === "boolean" && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === "true"
  return text
}
