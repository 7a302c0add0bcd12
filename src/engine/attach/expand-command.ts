// Expands slash commands. `/name …` becomes the text of a command file, `/server:prompt key=value …` that of an MCP
// server's prompt; `/skill` is left to the session. An unknown command is refused, so that it never reaches a model as text. A path is not a command.

import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Command from "#ability/command/command.ts"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import type { MCPContent, MCPPrompt, MCPPromptContent } from "#ability/mcp/mcp.ts"
import { askedSkills } from "#ability/skill/asked-skills.ts"
import * as Skill from "#ability/skill/skill.ts"
import type { PromptPart } from "#engine/record/prompt-part.ts"
import type { FilledCommand } from "#engine/run/run.ts"
import { Instance } from "#kernel/instance.ts"
import { NamedError } from "#util/error.ts"
import { nearest } from "#util/nearest.ts"
import { ownCommand } from "#util/own-command.ts"
import { plainText } from "#util/plain-text.ts"

type Known = NonNullable<MCPPrompt["arguments"]>
type ServerPrompt = { server: string; prompt: MCPPrompt }

const command = /^\s*\/([^\s/]+)(?:\s+([\s\S]*))?$/
/** A name after the slash that looks like a command, even if it is mistyped. */
const likeName = /^[\p{L}\p{N}][\p{L}\p{N}_:.?!,;-]*$/u
/** The same if more words follow. Names with a digit at the start or with a dot are excluded, because of sentences such
 * as "/404 is what I see" and "/notes.md is old". */
const likeNameBeforeWords = /^\p{L}[\p{L}\p{N}_:?!,;-]*$/u
const invisible = /[\p{C}\p{DI}]/gu
/** Prompt names that can be typed after a slash: visible characters only. */
const typed = /^[^\s\p{C}\p{DI}/][^\s\p{C}\p{DI}]{0,127}$/u
const pair = /(?<!\S)([\w.-]+)=(?:"([^"]*)"|'([^']*)'|(\S*))(?=\s|$)/g
const maxNamed = 10
/** The most that a server's answer adds to a prompt: characters of all its texts together, and parts. */
const maxText = 200_000
const maxParts = 100

class UnknownCommand extends NamedError {
  constructor(name: string, known: readonly string[]) {
    const near = nearest(name, known)
    const named = known.slice(0, maxNamed).map((one) => `/${one}`)
    const more = known.length > maxNamed ? `, and ${known.length - maxNamed} more` : ""
    const text = [
      `There is no command "/${name}".`,
      ...(near ? [`Did you mean "/${near}"?`] : []),
      known.length
        ? `Commands here: ${named.join(", ")}${more}.`
        : `This folder has no commands. A file .vitamin/commands/NAME.md is one, and every skill; to see where they are read from: ${ownCommand} command list, ${ownCommand} skill list.`,
      "To send it as text, put a word before it.",
    ]
    super("Session.UnknownCommand", plainText(text.join(" "), 2_000), { name, near, known })
  }
}

/** The filled command file; or the server's messages, then the words that are not arguments. Returns undefined if the text
 * names neither. With a session, servers that its client added are included. */
export async function expandCommand(
  words: string,
  sessionId?: string,
): Promise<PromptPart[] | FilledCommand | undefined> {
  const [, name = "", given = ""] = command.exec(words) ?? []
  if (!name) return undefined
  const file = await fileCommand(name, sessionId)
  if (file) return (await import("./fill-command.ts")).fillCommand(file, given.trim())
  for (const server of await silentServers(name, sessionId)) await server.connect()
  const found = await findPrompt(name, { given, sessionId })
  return found && expand(name, given, { ...found, sessionId })
}

/** Whether the text must be expanded when its turn comes. No server is started to find out: one that has not listed its
 * prompts yet counts as having the prompt. */
export async function isExpandable(words: string, sessionId: string): Promise<boolean> {
  const [, name = "", given = ""] = command.exec(words) ?? []
  if (!name) return false
  if (await fileCommand(name, sessionId)) return true
  if ((await silentServers(name, sessionId)).length) return true
  return (await findPrompt(name, { given, sessionId })) !== undefined
}

/** A skill goes before a command of the same name. A command that nobody has reviewed replaces nothing that somebody has,
 * and no prompt of a server. */
async function fileCommand(name: string, sessionId: string | undefined): Promise<Command.Info | undefined> {
  const found = Command.find(name, (await Command.list()).commands)
  if (!found) return undefined
  const isReviewed = found.refusal === undefined
  const { skills } = await Skill.list({ isQuiet: true })
  const rivals = skills.filter(({ isTrusted }) => isTrusted || !isReviewed).map((skill) => skill.name)
  if (askedSkills(`/${name}`, rivals).length) return undefined
  const servers = isReviewed || !name.includes(":") ? [] : await serversOf(sessionId)
  return servers.some(({ server }) => name.startsWith(`${server.id}:`)) ? undefined : found
}

/** Servers with the id in the name that have not listed their prompts yet. */
async function silentServers(name: string, sessionId: string | undefined) {
  return (await serversOf(sessionId)).filter((one) => name.startsWith(`${one.server.id}:`) && !one.manifest())
}

async function findPrompt(
  name: string,
  { given, sessionId }: { given: string; sessionId: string | undefined },
): Promise<ServerPrompt | undefined> {
  const skills = (await Skill.list({ isQuiet: true })).skills.map((skill) => skill.name)
  if (askedSkills(`/${name}`, skills).length) return undefined
  const prompts = await serverPrompts(sessionId)
  const found = prompts.get(name)
  if (found) return found
  const isPath = [`/${name}`, join(Instance.directory, name)].some((path) => existsSync(path))
  const like = given.trim() ? likeNameBeforeWords : likeName
  if (isPath || !like.test(name.replace(invisible, ""))) return undefined
  const files = (await Command.list()).commands.map((one) => one.name)
  throw new UnknownCommand(name, [...new Set([...files, ...skills, ...prompts.keys()])])
}

/** The prompts of servers by command name, from their last manifests. No server is started. */
export async function serverPrompts(sessionId?: string): Promise<Map<string, ServerPrompt>> {
  const found = new Map<string, ServerPrompt>()
  for (const one of await serversOf(sessionId)) {
    const { id } = one.server
    for (const prompt of one.manifest()?.prompts ?? [])
      if (typed.test(prompt.name)) found.set(`${id}:${prompt.name}`, { server: id, prompt })
  }
  return found
}

async function serversOf(sessionId: string | undefined) {
  const Mcp = await ifConfigured()
  return (await Mcp?.usable(sessionId === undefined ? undefined : [sessionId])) ?? []
}

async function expand(
  name: string,
  given: string,
  { server, prompt, sessionId }: ServerPrompt & { sessionId: string | undefined },
): Promise<PromptPart[]> {
  const { args, rest } = readArguments(given, prompt.arguments ?? [])
  const { getPrompt } = await import("#ability/mcp/get-prompt.ts")
  const ancestry = sessionId === undefined ? {} : { ancestry: [sessionId] }
  const { messages } = await getPrompt({ server, name: prompt.name, args, typed: `/${name}`, ...ancestry })
  return [...partsOfPrompt(messages), ...(rest ? [{ type: "text" as const, text: rest }] : [])]
}

/** Reads `key=value` pairs. The remaining words become the value of the one required argument that is missing, or of
 * the only argument that the prompt has. */
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

/** The answer of an MCP server to one of its prompts, as parts of our prompt. */
export function partsOfPrompt(messages: MCPPromptContent["messages"]): PromptPart[] {
  let left = maxText
  return messages.slice(0, maxParts).flatMap(({ role, content }): PromptPart[] => {
    if (content.type === "image") {
      const { data: value, mimeType } = content
      return [{ type: "image", source: { kind: "base64", value, mimeType } }]
    }
    if (left <= 0) return []
    const text = plainText(textOf(content), left)
    left -= text.length
    return [{ type: "text", text: role === "user" ? text : `[${role}]\n${text}` }]
  })
}

function textOf(content: MCPContent): string {
  switch (content.type) {
    case "text":
      return content.text
    case "resource": {
      const { uri, text, mimeType = "binary" } = content.resource
      return text === undefined ? `[resource ${uri}: ${mimeType}]` : `[resource ${uri}]\n${text}`
    }
    case "resource_link":
      return `[resource ${content.uri}: ${content.name}]`
    default:
      return `[${content.type}: ${content.mimeType}]`
  }
}
