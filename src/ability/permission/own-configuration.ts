// What decides what runs: our own configuration, agents, servers and hooks. A rule with a wildcard does not reach it;
// a person must name it. Of a command that is told by its words: a guard rail, not a wall.
import { homedir } from "node:os"
import * as Env from "#kernel/env.ts"
import * as Global from "#kernel/global.ts"
import { fitsText, type Path } from "#util/wildcard.ts"
import { isRisky } from "./shell/risky-command.ts"
import { splitCommand } from "./shell/split-command.ts"

const folders = new Set([".vitamin", ".plaited", ".claude", ".agents", ".git", ".husky", ".mcp.json"])
/** The same names in a command, as a segment of any word. */
const mentioned = new RegExp(
  `(^|[^\\w.-])(${[...folders].map((name) => name.replaceAll(".", "\\.")).join("|")})(?![\\w.-])`,
  "i",
)
const readers = new Set("cat head tail ls wc grep rg diff stat file tree du find".split(" "))
/** What the shell puts something else in the place of. */
const hole = /\$\{[^}]*\}|\$\w+|\{[^}]*\}|\[[^\]]*\]|[$*?{}[\]]/g
/** No name of ours is written with more than this, and to look for patterns in much more takes long. */
const maxSegment = 300
/** Settings of git that name a program, or where one is found. */
const running =
  /\bgit\b[^;&|\n]*\bconfig\b(?!.*\s(--get\S*|--list|get|list)\s)[^;&|\n]*\s(alias|core\.(hookspath|fsmonitor|editor|pager|sshcommand|askpass|gitproxy|attributesfile)|filter|diff\.[^=\s]*(command|textconv|external)|merge\.\S+\.driver|include|includeif|credential|gpg|pager|sequence\.editor|init\.templatedir|difftool|mergetool)\b/i

/** Whether to write there is to change what runs. */
export function isOwnConfiguration({ segments, isAbsolute }: Path): boolean {
  if (segments.some((segment) => folders.has(segment.toLowerCase()))) return true
  if (!isAbsolute) return false
  const path = `/${segments.join("/")}`
  return ownFolders().some((folder) => path === folder || path.startsWith(`${folder}/`))
}

/** Whether a command names it, and is not one that only looks. */
export function mentionsOwnConfiguration(command: string): boolean {
  const text = withHome(command.replace(/["'\\]/g, ""))
  const isNamed =
    mentioned.test(text) ||
    running.test(text) ||
    ownFolders().some((folder) => text.includes(folder)) ||
    pathsIn(text).some((path) => path.split("/").some(couldBeOurs))
  return isNamed && !onlyLooks(command)
}

/** Whether a command writes nothing, whatever it is given. */
export function onlyLooks(command: string): boolean {
  const { commands, unclear } = splitCommand(command)
  if (unclear !== undefined) return false
  return commands.every(
    (simple) => !simple.writes && readers.has(simple.words[0]?.text ?? "") && !isRisky(simple),
  )
}

/** Whatever in a command may be a path. */
export function pathsIn(command: string): string[] {
  return withHome(command.replace(/["'\\]/g, "")).split(/[\s;&|<>()=`]+/)
}

/** Whether the shell could make one of the names of a segment with patterns or variables in it. */
function couldBeOurs(segment: string): boolean {
  if (segment.length > maxSegment) return /[$*?{[]/.test(segment)
  const pattern = segment.toLowerCase().replace(hole, "*")
  if (!pattern.includes("*")) return false
  // A pattern does not take a dot at the start; a variable may be it, but what may be anything says nothing.
  if (!pattern.startsWith(".") && (!/^[${]/.test(segment) || pattern.replaceAll("*", "").length < 3))
    return false
  return [...folders].some((name) => fitsText(pattern, name))
}

function withHome(text: string): string {
  return text
    .replace(/(^|[\s=:<>])~(?=\/)/g, (_, before) => before + homedir())
    .replace(/\$\{?(HOME|XDG_\w+_HOME|VITAMIN_DATA_DIR)\b\}?/g, (whole, name) => Env.get(name) ?? whole)
}

function ownFolders(): string[] {
  return [Global.config(), Global.data(), Global.state()]
}
