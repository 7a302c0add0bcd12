// The one error of a configuration: every problem that was found, each with its place.
import { NamedError } from "#util/error.ts"
import type { Path } from "#util/parse/jsonc.ts"

/** `source` is the file, the variable or the URL that is wrong; `path` is the key in it, empty if the problem is not
 * about one key. */
export type Problem = { source: string; line?: number; column?: number; path: string; message: string }

export class Invalid extends NamedError {
  declare readonly data: { problems: Problem[] }

  constructor(problems: Problem[], options?: ErrorOptions) {
    super("Config.Invalid", problems.map(formatProblem).join("\n"), { problems }, options)
  }
}

/** One line: `file:line:column: key.path: what`. */
export function formatProblem({ source, line, column, path, message }: Problem): string {
  const place = [source, line, column].filter((part) => part !== undefined).join(":")
  return [place, path, message].filter(Boolean).join(": ")
}

/** A key path as a person would write it: `permission[0].action`, `provider["my.id"].apiKey`. */
export function formatPath(path: Path): string {
  let text = ""
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`
    else if (/^[\w$-]{1,80}$/.test(step)) text += text ? `.${step}` : step
    else text += `[${JSON.stringify(step.length > 80 ? `${step.slice(0, 80)}…` : step)}]`
  }
  return text
}

/** The steps of a key path as `formatPath` writes it; undefined if the text is no key path. */
export function parsePath(text: string): (string | number)[] | undefined {
  const step = /(?:^|(?<!^)\.)([\w$-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y
  const steps: (string | number)[] = []
  while (step.lastIndex < text.length) {
    const [found, word, index, quoted] = step.exec(text) ?? []
    const name = index === undefined ? (word ?? nameIn(quoted)) : Number(index)
    if (found === undefined || name === undefined) return undefined
    steps.push(name)
  }
  return steps.length > 0 ? steps : undefined
}

function nameIn(quoted: string | undefined): string | undefined {
  try {
    return quoted && JSON.parse(quoted)
  } catch {
    return undefined
  }
}
