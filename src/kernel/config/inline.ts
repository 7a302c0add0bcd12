// The inline layer of a process: settings that the person gives on the command line as key=value. They are checked here one
// by one, so that a mistake stops the command before anything is read.
import { checkLayer, type Raw } from "#kernel/schema/check.ts"
import { formatProblem, parsePath } from "#kernel/schema/invalid.ts"
import { Info } from "#kernel/schema/schema.ts"
import { mergeLayers } from "./merge.ts"
import { withoutOwn } from "./restrict.ts"

let ofProcess: Raw | undefined

/** The settings that were given with `setInline`. */
export function inline(): Raw | undefined {
  return ofProcess
}

/** Takes settings such as `model=openai/gpt-5` or `permission=[…]`; the later one wins, permission rules follow one another.
 * A value is JSON where it fits the key as such, else it is the text. Returns the problem with the first bad one. */
export function setInline(settings: readonly string[]): string | undefined {
  const layers: Raw[] = []
  for (const setting of settings) {
    const read = readSetting(setting)
    if (typeof read === "string") return read
    layers.push(read)
  }
  ofProcess = mergeLayers(layers.map((value) => ({ source: "inline", value })))
  return undefined
}

function readSetting(setting: string): Raw | string {
  const [, key = "", text = ""] = /^([^=]*?)\s*=(.*)$/s.exec(setting) ?? []
  const path = parsePath(key.trim())
  if (!path)
    return `${JSON.stringify(setting.split("=", 1)[0])} is not of the form key=value, such as model=openai/gpt-5`
  if (path.some((step) => typeof step === "number"))
    return `${key}: an item of a list cannot be set; give the whole list as JSON: ${path[0]}=[…]`
  const [json, plain] = [jsonOf(text), text].map((value) => check(path as string[], value))
  const [read] = json!.problems.length > 0 && plain!.problems.length === 0 ? [plain!] : [json!]
  const { ignored } = withoutOwn(read.value, "inline")
  const problem = read.problems.map(formatProblem)[0] ?? ignored.map((one) => `${one.key}: ${one.reason}`)[0]
  return problem ?? read.value
}

function check(path: string[], value: unknown) {
  const nested = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)
  return checkLayer({ schema: Info, value: nested, source: "", refuseUnknown: true })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
