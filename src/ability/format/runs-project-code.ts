// Finds out if prettier would run code of the project. Its configuration may be a program, or name one: as a plugin, a parser, or
// another configuration. A name is no protection: prettier also takes a file of the project with the name of a package.
import { join } from "node:path"
import { namesIn, textOf } from "#util/file/path-info.ts"

/** `folders`: from the file up to the work tree. */
export function prettierRunsCode(folders: readonly string[]): boolean {
  return folders.some((folder) =>
    namesIn(folder).some((name) => {
      if (/^prettier\.config\./.test(name)) return true
      const isOwn = /^\.prettierrc/.test(name)
      if (!isOwn && name !== "package.json" && name !== "package.yaml") return false
      const text = textOf(join(folder, name)) ?? ""
      if (name === "package.json") return manifestNamesCode(text)
      // Its other parts are not read, so only one without prettier is known to be data.
      if (name === "package.yaml") return /prettier|\\/.test(text)
      return !/^\.prettierrc(\.(json5?|ya?ml|toml))?$/.test(name) || !isMapping(name, text) || namesCode(text)
    }),
  )
}

function manifestNamesCode(text: string): boolean {
  try {
    const { prettier = {} } = JSON.parse(text)
    return typeof prettier !== "object" || namesCode(JSON.stringify(prettier))
  } catch {
    return true
  }
}

/** A backslash could hide a name. */
function namesCode(text: string): boolean {
  return /plugins|\\|parser["']?\s*[:=]\s*["']?[\w-]*(?![\w\s"',}-]|$)/.test(text)
}

/** Anything else is the name of another configuration. */
function isMapping(name: string, text: string): boolean {
  const lines = text.split("\n").map((line) => line.trim())
  const first = lines.find((line) => line && !/^(#|\/\/|---$)/.test(line)) ?? "{"
  return name.endsWith(".toml") || first.startsWith("{") || /^(["']?)[\w$]+\1\s*:(\s|$)/.test(first)
}
