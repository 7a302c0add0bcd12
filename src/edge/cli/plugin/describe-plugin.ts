// What a plugin can do, file by file, for the person who decides about it.
import { basename } from "node:path"
import { fillTemplate } from "#ability/command/fill-template.ts"
import { readCommand } from "#ability/command/read-command.ts"
import type { Tree } from "#ability/plugin/tree.ts"
import type { Entry, Parts } from "#kernel/plugin/plugins.ts"
import { isAgentFile, isGuardFile } from "#kernel/reviewed/places.ts"
import { errorText } from "#util/error.ts"

export type Described = { kind: keyof Parts; file: string; does: string }

export async function describePlugin(entry: Pick<Entry, "name" | "parts">, tree: Tree): Promise<Described[]> {
  const { name, parts } = entry
  const found: Described[] = []
  const add = (kind: keyof Parts, file: string, does: string) => void found.push({ kind, file, does })
  for (const [part, file] of filesOf(tree, parts.commands, (path) => path.endsWith(".md"))) {
    const within = file.startsWith(`${part}/`) ? file.slice(part.length + 1) : basename(file)
    const called = `/${name}:${within.slice(0, -".md".length).replaceAll("/", ":")}`
    add("commands", file, `${called}${await commandWords(tree, file)}`)
  }
  for (const [, file] of filesOf(tree, parts.agents, isAgentFile))
    add(
      "agents",
      file,
      `agent ${name}:${basename(file).replace(/\.\w+$/, "")}${file.endsWith(".ts") ? "; code that runs in vitamin" : ""}`,
    )
  for (const [, file] of filesOf(tree, parts.skills, (path) => /(^|\/)skill\.md$/i.test(path))) {
    const folder = file.replace(/[^/]+$/, "")
    const scripts = [...tree.keys()].filter((path) => path.startsWith(`${folder}scripts/`))
    add("skills", file, `skill${scripts.length ? ` with scripts: ${scripts.join(", ")}` : ""}`)
  }
  for (const part of parts.hooks) add("hooks", part, hookWords(jsonIn(tree, part)))
  for (const part of parts.mcp) add("mcp", part, serverWords(jsonIn(tree, part), "mcpServers"))
  for (const part of parts.lsp) add("lsp", part, serverWords(jsonIn(tree, part), "lspServers"))
  for (const [, file] of filesOf(tree, parts.guards, isGuardFile))
    add("guards", file, "code that runs in vitamin")
  return found
}

function filesOf(
  tree: Tree,
  parts: string[],
  fits: (path: string) => boolean,
): [part: string, file: string][] {
  return parts.flatMap((part) =>
    [...tree.keys()]
      .filter((path) => (path === part || part === "" || path.startsWith(`${part}/`)) && fits(path))
      .sort()
      .map((path): [string, string] => [part, path]),
  )
}

async function commandWords(tree: Tree, file: string): Promise<string> {
  try {
    const { body, rules } = await readCommand(file, tree.get(file)!.bytes)
    const lines = fillTemplate("", body, "").segments.flatMap((one) => ("line" in one ? [one.line] : []))
    const allows = rules.map(({ permission, pattern }) => `${permission}:${pattern}`)
    return [
      ...(lines.length ? [`; runs ${lines.join(" and ")}`] : []),
      ...(allows.length ? [`; allows ${allows.join(", ")}`] : []),
    ].join("")
  } catch (error) {
    return `; it is not used: ${errorText(error)}`
  }
}

function jsonIn(tree: Tree, part: string): unknown {
  const [file = "", key] = part.split("#")
  try {
    const whole = JSON.parse(tree.get(file)!.bytes.toString("utf8"))
    return key === undefined ? whole : whole[key]
  } catch {
    return undefined
  }
}

/** `PreToolUse runs …` for each command. */
function hookWords(value: unknown): string {
  const events = objectOf(objectOf(value).hooks ?? value)
  const found = Object.entries(events).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? groups : []).flatMap((group) => {
      const hooks: unknown = objectOf(group).hooks
      return (Array.isArray(hooks) ? hooks : []).map((hook) => {
        const { command, type } = objectOf(hook)
        return `${event} runs ${String(command ?? type)}`
      })
    }),
  )
  return found.join("; ") || "no hooks"
}

function serverWords(value: unknown, key: string): string {
  const servers = objectOf(objectOf(value)[key] ?? value)
  const found = Object.entries(servers).map(([name, entry]) => {
    const { command, args, url } = objectOf(entry)
    const line = [command, args].flat().filter((word) => word !== undefined)
    return url === undefined ? `${name} runs ${line.join(" ")}` : `${name} connects to ${String(url)}`
  })
  return found.join("; ") || "no servers"
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {}
}
