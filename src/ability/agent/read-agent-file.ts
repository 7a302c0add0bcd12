// Reads the agents of one file: YAML, Markdown with front matter, or TypeScript. A project's file that nobody has
// reviewed is never run, is not read through a link out of the work tree, and loses its "allow" rules.
import { basename, extname } from "node:path"
import { Invalid as InvalidConfig } from "#kernel/config/config.ts"
import { importModule } from "#kernel/config/typescript.ts"
import { Unreviewed } from "#kernel/reviewed/guard-imports.ts"
import type { Narrowing, Reviewed } from "#kernel/reviewed/reviewed.ts"
import { formatPath, formatProblem } from "#kernel/schema/invalid.ts"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { NamedError } from "#util/error.ts"
import * as Agent from "./agent.ts"

export type Ignored = { file: string; key: string; reason: string }
/** `problem` says why the file, or a part of it, is not used. */
export type Content = {
  agents: Agent.AgentDefinition[]
  ignored: Ignored[]
  problem?: string
  isTrusted?: boolean
}

const maxBytes = 1 << 20

/** `reviewed` is undefined for the person's own files. Throws if the file cannot be read. */
export async function readAgentFile(file: string, reviewed: Reviewed | undefined): Promise<Content> {
  const isCode = extname(file) === ".ts"
  const refused = (reason: string) => ({ agents: [], ignored: [{ file, key: basename(file), reason }] })
  if (reviewed && !reviewed.isTrusted) {
    const reason = reviewed.refusal(file, "")!
    return isCode ? refused(reason) : readUntrusted(file, reviewed.root, reason)
  }
  const bytes = await contentOf(file)
  const reason = reviewed?.refusal(file, bytes)
  if (reason) return isCode ? refused(reason) : readUntrusted(file, reviewed!.root, reason)
  try {
    const content = isCode ? await readModule(file, bytes, reviewed) : await readData(file, bytes)
    await reviewed?.keepNarrowing(file, bytes, narrowingOf(content))
    return { ...content, isTrusted: true }
  } catch (error) {
    if (error instanceof Unreviewed) return refused(`it imports ${error.message}`)
    throw error
  }
}

async function readUntrusted(file: string, root: string, reason: string): Promise<Content> {
  return withoutAllows(await readData(file, await contentOf(file, root)), file, reason)
}

async function contentOf(file: string, root?: string): Promise<Buffer> {
  const bytes = await readSmallFile(file, root)
  if (!bytes) throw new Error("the file is gone")
  if (bytes.length > maxBytes) throw new Error(`${bytes.length} bytes are too many; the limit is ${maxBytes}`)
  return bytes
}

function narrowingOf({ agents }: Content): Narrowing {
  return Object.fromEntries(agents.map(({ id, permissions }) => [id, permissions.filter(isNarrowing)]))
}

function isNarrowing({ action }: { action: string }): boolean {
  return action !== "allow"
}

/** Unknown keys are reported and ignored. */
async function readData(file: string, bytes: Buffer): Promise<Content> {
  const { parseFrontmatter } = await import("#util/parse/frontmatter.ts")
  const { decodeText, parseYaml } = await import("#util/parse/yaml.ts")
  const { translateAgent } = await import("./translate-agent.ts")
  const source = basename(file)
  const id = basename(file, extname(file))
  const isMarkdown = extname(file) === ".md"
  const found = isMarkdown
    ? parseFrontmatter(bytes, source)
    : { body: "", ...parseYaml(decodeText(bytes, source), source) }
  if (!found)
    throw new Error(`${source}:1:1: an agent file must begin with front matter, between lines of "---"`)
  const { body, locate } = found
  const given = found.value ?? (isMarkdown ? {} : found.value)
  const warnings: string[] = []
  const options = { source, id, locate, warn: (text: string) => void warnings.push(text) }
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return { agents: [Agent.parse(given, options)], ignored: [] }
  if (body && Object.hasOwn(given, "systemPrompt"))
    throw new Error(`${source}: systemPrompt: the text below the front matter is the system prompt already`)
  const { value, notes, isOff } = translateAgent({ ...given, ...(body ? { systemPrompt: body } : {}) }, file)
  const agents = isOff ? [] : [Agent.parse(value, options)]
  const ignored = [...notes.map((note) => `${source}: ${note}`), ...warnings].map((reason) => ({
    file,
    key: "a field",
    reason,
  }))
  return { agents, ignored }
}

/** Every exported object with an id is an agent. */
async function readModule(file: string, bytes: Buffer, reviewed: Reviewed | undefined): Promise<Content> {
  const source = basename(file)
  const exported = await importModule(file, bytes, { reviewed })
  const found = new Set(Object.values(exported).filter(hasId))
  const content: Content = { agents: [], ignored: [] }
  if (found.size === 0)
    content.problem = `${source}: exports no agent; write export default defineAgent({ id: … })`
  for (const value of found)
    try {
      content.agents.push(Agent.parse(value, { source }))
    } catch (error) {
      content.problem = [content.problem, problemOf(error)].filter(Boolean).join("\n")
    }
  return content
}

function hasId(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as { id?: unknown }).id === "string"
}

function withoutAllows({ agents, ignored }: Content, file: string, reason: string): Content {
  const allows = agents.flatMap(({ permissions }) =>
    permissions.flatMap(({ action }, i) =>
      action === "allow" ? [{ file, key: formatPath(["permissions", i]), reason }] : [],
    ),
  )
  const restricted = agents.map((agent) =>
    Object.freeze({ ...agent, permissions: agent.permissions.filter(isNarrowing) }),
  )
  return { agents: restricted, ignored: [...ignored, ...allows] }
}

/** The problem with a file, as text for a person; anything unexpected is rethrown. */
export function problemOf(error: unknown): string {
  if (error instanceof InvalidConfig)
    return error.data.problems
      .map((problem) => formatProblem({ ...problem, source: basename(problem.source) }))
      .join("\n")
  if (error instanceof NamedError || error instanceof Error) return error.message
  throw error
}
