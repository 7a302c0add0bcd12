// Parses a SKILL.md by the Agent Skills specification. Violations are reported, and the skill is used anyway if its
// meaning is clear. A skill without a description is unusable, because nothing could find it.
import { type Frontmatter, parseFrontmatter } from "#util/parse/frontmatter.ts"
import { YamlError } from "#util/parse/yaml.ts"
import type { SkillProblem, SkillText } from "./skill-types.ts"

export type ParsedSkill = {
  /** Undefined if it cannot be used. */
  skill?: SkillText
  problems: SkillProblem[]
  /** It has no front matter: perhaps it was never meant to be a skill. */
  isPlain?: boolean
}
type Report = (key: string | undefined, message: string, level?: SkillProblem["level"]) => void
type Fields = Record<string, unknown>

const maxName = 64
const maxDescription = 1_024
const maxCompatibility = 500
const adviceLines = 500
const adviceChars = 20_000
const known = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"]
/** Keys outside the specification that are supported here. */
const extensions = ["mcp", "mcpServers", "disable-model-invocation"]

/** `source` is named in messages. `expected` is the name that the skill should have: that of its folder, or of its file
 * if it has no folder. */
export function parseSkill(text: string, options: { source: string; expected: string }): ParsedSkill {
  const { source } = options
  const expected = options.expected.normalize("NFKC")
  const problems: SkillProblem[] = []
  if (text.includes("\0")) return unusable(problems, 1, "it has NUL bytes and is no text")
  const front = readFront(text, source, problems)
  if (!front) return problems.length ? { problems } : { ...unusable(problems, 1, noFront), isPlain: true }
  const { value, body, locate } = front
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return unusable(problems, 1, "its front matter has no keys")
  const fields = value as Fields
  const report: Report = (key, message, level = "breach") => {
    const { line } = locate(key === undefined ? [] : [key])
    problems.push({ level, line, message: key === undefined ? message : `${key}: ${message}` })
  }
  const description = readDescription(fields, report)
  if (description === undefined) return { problems }
  const name = readName(fields, expected, report)
  if (name === "") return { problems }
  reportKeys(fields, report)
  reportBody(body, report)
  const license = readText(fields, "license", report)
  const compatibility = readCompatibility(fields, report)
  const skill: SkillText = {
    name,
    description,
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    metadata: readMetadata(fields, report),
    allowedTools: readTools(fields, report),
    isManual: fields["disable-model-invocation"] === true,
    mcp: readServers(fields, report),
    body,
  }
  return { skill, problems }
}

/** The form of a name in the specification. */
export function isSkillName(name: string): boolean {
  return /^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$/u.test(name) && [...name].length <= maxName
}

const noFront = 'it does not begin with "---" and front matter'

function unusable(problems: SkillProblem[], line: number, message: string): ParsedSkill {
  problems.push({ level: "error", line, message })
  return { problems }
}

function readFront(text: string, source: string, problems: SkillProblem[]): Frontmatter | undefined {
  const read = (words: string) => parseFrontmatter(Buffer.from(words), source)
  try {
    return read(text)
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    const { reason, data } = error
    const report = (level: SkillProblem["level"]) =>
      problems.push({ level, line: data.line, message: reason })
    try {
      const front = read(withQuotes(text))
      report("breach")
      return front
    } catch (again) {
      if (!(again instanceof YamlError)) throw again
      report("error")
      return undefined
    }
  }
}

/** Quotes plain values: many authors write `description: Use it when: …`, which is invalid YAML. */
function withQuotes(text: string): string {
  const lines = text.split(/\r\n?|\n/)
  const end = lines.indexOf("---", 1)
  return lines
    .map((line, i) => {
      const [, key, value] =
        (i < end && /^(name|description|compatibility|license):[ \t]+(.*\S)/.exec(line)) || []
      return key && !/^["'|>]/.test(value!) ? `${key}: ${JSON.stringify(value)}` : line
    })
    .join("\n")
}

function readDescription(fields: Fields, report: Report): string | undefined {
  const text = readText(fields, "description", report)?.trim()
  if (text === undefined || text === "") {
    if (typeof fields.description === "string" || fields.description === undefined)
      report(
        "description" in fields ? "description" : undefined,
        "a skill needs a description of what it does and when to use it",
      )
    return undefined
  }
  const { length } = [...text]
  if (length > maxDescription)
    report("description", `${length} characters are too many; the limit is ${maxDescription}`)
  return text
}

/** Returns "" only if neither the name nor the folder has a usable character. */
function readName(fields: Fields, expected: string, report: Report): string {
  const text = readText(fields, "name", report)?.normalize("NFKC")
  if (!text) report("name" in fields ? "name" : undefined, `a skill needs a name, here "${shown(expected)}"`)
  const name = text || expected
  if (isSkillName(name)) {
    if (text && name !== expected)
      report("name", `"${name}" is not the name of its folder or file, "${shown(expected)}"`)
    return name
  }
  const used = slug(name) || slug(expected)
  const rule = `lower-case letters, digits and single hyphens, at most ${maxName} characters`
  const key = "name" in fields ? "name" : undefined
  report(key, `"${shown(name)}" is not made of ${rule}; it is called "${used}"`, "error")
  return used
}

function slug(name: string): string {
  return [...name.slice(0, 1_000).toLowerCase()]
    .join("")
    .replace(/[^\p{Ll}\p{Lo}\p{N}]+/gu, "-")
    .slice(0, maxName)
    .replace(/^-+|-+$/g, "")
}

function shown(text: string): string {
  return text.slice(0, 80)
}

function readText(fields: Fields, key: string, report: Report): string | undefined {
  const value = fields[key]
  if (value === undefined || typeof value === "string") return value
  report(key, "a text is expected")
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined
}

function readCompatibility(fields: Fields, report: Report): string | undefined {
  const text = readText(fields, "compatibility", report)
  const length = text === undefined ? 1 : [...text].length
  if (length < 1 || length > maxCompatibility)
    report("compatibility", `it has ${length} characters; 1 to ${maxCompatibility} are allowed`)
  return text
}

function readMetadata(fields: Fields, report: Report): Record<string, string> {
  const value = fields.metadata
  if (value === undefined || value === null) return {}
  if (typeof value !== "object" || Array.isArray(value)) {
    report("metadata", "an object of texts is expected", "error")
    return {}
  }
  const others = Object.entries(value).filter(([, one]) => typeof one !== "string")
  if (others.length) report("metadata", `${shown(others[0]![0])}: a text is expected; write it in quotes`)
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, typeof one === "string" ? one : JSON.stringify(one)]),
  )
}

/** Reads a list, or a text whose words are separated by blanks or commas; inside parentheses they do not separate. */
function readTools(fields: Fields, report: Report): string[] {
  const value = fields["allowed-tools"]
  if (value === undefined || value === null) return []
  if (typeof value === "string") return value.match(/(?:[^\s,()]|\([^()]*\))+/g) ?? []
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value
  report("allowed-tools", "a text with blanks between the tools, or a list of texts, is expected", "error")
  return []
}

/** Accepts every form that MCP configuration files use. */
function readServers(fields: Fields, report: Report): Record<string, unknown> {
  const key = fields.mcp === undefined ? "mcpServers" : "mcp"
  const value = fields[key]
  if (value === undefined || value === null) return {}
  if (typeof value !== "object") {
    report(key, "an object with a name for each server is expected", "error")
    return {}
  }
  if (Array.isArray(value)) return { servers: value }
  return "servers" in value || "mcpServers" in value ? { ...value } : { mcpServers: value }
}

function reportKeys(fields: Fields, report: Report): void {
  for (const key of Object.keys(fields).slice(0, 50))
    if (extensions.includes(key))
      report(key, "this key is not in the specification; other programs may not know it", "warning")
    else if (!known.includes(key))
      report(
        key,
        `this key is not in the specification (${known.join(", ")}); other data belongs in metadata`,
      )
}

function reportBody(body: string, report: Report): void {
  const lines = body.split("\n").length
  if (body === "") report(undefined, "there are no instructions below the front matter", "warning")
  else if (lines > adviceLines || body.length > adviceChars)
    report(
      undefined,
      `${lines} lines with ${body.length} characters are more than the advised ${adviceLines} and ${adviceChars}; move some to references/`,
      "warning",
    )
}
