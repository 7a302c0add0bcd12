// A prompt of an MCP server that a person calls for: `/server:prompt key=value …`. Skills are called for in the same way,
// and found by the session itself.
import type { MCPPrompt } from "#ability/mcp/types.ts"
import { plainText } from "#ability/tool/plain-text.ts"
import type * as Session from "#engine/session/session.ts"
import { serverPrompts } from "./commands.ts"
import { InvalidParams } from "./errors.ts"

type Known = NonNullable<MCPPrompt["arguments"]>

const command = /^\s*\/(\S+)(?:\s+([\s\S]*))?$/
const pair = /(?<!\S)([\w.-]+)=(?:"([^"]*)"|'([^']*)'|(\S*))(?=\s|$)/g

/** What the server says, then what the person said beside it; undefined where the words call for no prompt. To be called
 * inside the instance of the session's folder. */
export async function expandCommand(
  words: string,
  sessionId: string,
): Promise<Session.PromptPart[] | undefined> {
  const [, name = "", given = ""] = command.exec(words) ?? []
  if (!name.includes(":")) return undefined
  const found = (await serverPrompts({ sessionId })).get(name)
  if (!found) return undefined
  const { server, prompt } = found
  const { args, rest } = readArguments(given, prompt.arguments ?? [])
  refuseMissing(name, args, prompt.arguments ?? [])
  const [{ getPrompt }, { partsOfPrompt }] = await Promise.all([
    import("#ability/mcp/get-prompt.ts"),
    import("#ability/mcp/parts-of-prompt.ts"),
  ])
  const { messages } = await getPrompt({ server, name: prompt.name, args, line: [sessionId] })
  return [...partsOfPrompt(messages), ...(rest ? [{ type: "text" as const, text: rest }] : [])]
}

/** What is named as an argument; where one that is needed is left, or there is only one, the other words are that. */
function readArguments(given: string, known: Known): { args: Record<string, string>; rest: string } {
  const args: Record<string, string> = {}
  const isKnown = (key: string) => known.some(({ name }) => name === key)
  const words = given.replace(pair, (whole, key: string, ...values: (string | undefined)[]) => {
    if (!isKnown(key) || Object.hasOwn(args, key)) return whole
    args[key] = values.slice(0, 3).find((value) => value !== undefined) ?? ""
    return ""
  })
  const rest = words.trim()
  const left = known.filter(({ name }) => !Object.hasOwn(args, name))
  const needed = left.filter(({ required }) => required)
  const [only] = needed.length === 1 ? needed : known.length === 1 ? left : []
  if (!rest || !only) return { args, rest }
  return { args: { ...args, [only.name]: rest }, rest: "" }
}

function refuseMissing(name: string, args: Record<string, string>, known: Known): void {
  const missing = known.filter((one) => one.required && !Object.hasOwn(args, one.name))
  if (!missing.length) return
  const usage = known.map((one) => (one.required ? `${one.name}=…` : `[${one.name}=…]`)).join(" ")
  const names = missing.map((one) => JSON.stringify(one.name)).join(" and ")
  throw new InvalidParams(plainText(`/${name} needs ${names}. Use it as: /${name} ${usage}`, 500))
}
