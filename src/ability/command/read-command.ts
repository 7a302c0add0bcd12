// Reads one command file: Markdown, with front matter or without. Keys that other tools have and that would change what
// happens are reported; all others are ignored.
import { basename } from "node:path"
import { z } from "zod"
import { namesOf, patternsOf, rulesFor, toolOf } from "#ability/agent/foreign-tools.ts"
import type { Rule } from "#kernel/schema/schema.ts"
import { plainText } from "#util/plain-text.ts"

/** `description` and `hint` are for people. */
export type CommandText = {
  description: string
  hint?: string | undefined
  /** The rules that `allowed-tools` adds: these calls need no question. */
  rules: Rule[]
  model?: string | undefined
  agent?: string | undefined
  mode?: "plan" | "act" | undefined
  body: string
  problems: string[]
}

/** Keys of Claude Code and opencode that are not supported here. */
const unsupported = ["hooks", "context", "subtask"]
const maxDescription = 500
const text = z.union([z.string(), z.number()]).transform(String)
const Front = z.object({
  description: text.nullish(),
  // YAML reads `[name]` as a list.
  "argument-hint": z
    .union([text, z.array(text).transform((all) => all.map((one) => `[${one}]`).join(" "))])
    .nullish(),
  "allowed-tools": z.union([z.string(), z.array(z.string())]).nullish(),
  model: z.string().nullish(),
  agent: z.string().nullish(),
  mode: z.enum(["plan", "act"]).nullish(),
})

/** Throws if the file cannot be used. */
export async function readCommand(file: string, bytes: Buffer): Promise<CommandText> {
  const { decodeText } = await import("#util/parse/yaml.ts")
  const source = basename(file)
  const { value, body } = await frontOf(bytes, source)
  const given = value ?? {}
  const { success, data, error } = Front.safeParse(given)
  if (!success) {
    const [issue] = error.issues
    throw new Error(`${issue!.path.join(".") || "the front matter"}: ${issue!.message}`)
  }
  const written = body ?? decodeText(bytes, source).trim()
  if (!written) throw new Error("it has no text")
  const problems = unsupported
    .filter((key) => Object.hasOwn(given as object, key))
    .map((key) => `${key}: it is not supported and ignored`)
  const model = data.model?.trim()
  return {
    description: plainText(data.description ?? firstLine(written), maxDescription)
      .replace(/\s+/g, " ")
      .trim(),
    hint: data["argument-hint"]
      ? plainText(data["argument-hint"], maxDescription).replace(/\s+/g, " ")
      : undefined,
    rules: rulesOf(data["allowed-tools"], problems),
    model: model === "inherit" ? undefined : model || undefined,
    agent: data.agent?.trim() || undefined,
    mode: data.mode ?? undefined,
    body: written,
    problems,
  }
}

/** Front matter that is no YAML, such as `argument-hint: [a] [b]`, is read line by line, as other tools read it. */
async function frontOf(bytes: Buffer, source: string): Promise<{ value?: unknown; body?: string }> {
  const { parseFrontmatter } = await import("#util/parse/frontmatter.ts")
  try {
    return parseFrontmatter(bytes, source) ?? {}
  } catch (error) {
    const [, front, body] = /^\uFEFF?---\r?\n([\s\S]*?)\n---\r?\n([\s\S]*)$/.exec(bytes.toString()) ?? []
    const lines = front?.split(/\r?\n/).filter((line) => line.trim())
    const pairs = lines?.map((line) => /^([\w-]+):[ \t]*(.*)$/.exec(line))
    if (!pairs?.every((pair) => pair)) throw error
    const value = Object.fromEntries(pairs.map((pair) => [pair![1]!, pair![2]!.trim() || null]))
    return { value, body: body!.trim() }
  }
}

function firstLine(body: string): string {
  return body.split("\n", 1)[0]!.replace(/^#+\s*/, "")
}

/** A tool of an MCP server is named `mcp__server__tool`. A limit that our rules cannot express allows nothing. */
function rulesOf(given: unknown, problems: string[]): Rule[] {
  return namesOf(given).flatMap((name): Rule[] => {
    const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
    if (server && !tool!.includes("__"))
      return [{ permission: "mcp.call", pattern: `${server}/${tool}`, action: "allow" }]
    const rules = (patternsOf(name) ?? []).flatMap((pattern) => rulesFor(name, pattern, "allow"))
    const isUseless = toolOf(name) === "*" || !rules.length
    if (isUseless) problems.push(`allowed-tools: ${name} allows nothing here`)
    return isUseless ? [] : rules
  })
}
