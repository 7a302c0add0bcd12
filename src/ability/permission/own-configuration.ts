// Protects files that decide what runs: our own configuration, agents, servers, hooks, and files that make an editor or a
// shell run something when a folder is opened. A wildcard rule does not cover them; a rule or a person must name them.
// Shell commands are judged by their words, which is a guard rail, not a boundary.
import { homedir } from "node:os"
import * as Env from "#kernel/process/env.ts"
import { fitsAnyText, fitsText } from "#util/wildcard.ts"
import { protectedForms, protectedNames, protectedPairs } from "./protected-names.ts"
import { ownFolders } from "./protected-paths.ts"
import { withoutQuotedPatterns } from "./shell/quoted-patterns.ts"
import { isRisky } from "./shell/risky-command.ts"
import { type SimpleCommand, splitCommand } from "./shell/split-command.ts"
import { reach } from "./shell/unwrap.ts"

/** Finds protected names in a command, as segments of any word, and scripts of skills. */
const mentioned = new RegExp(
  `(^|[^\\w.-])(${[
    ...[...protectedNames].map(literal),
    ...protectedPairs.map((pair) => pair.map(literal).join("/+")),
    protectedForms,
    "skills/+[^\\s/]{1,100}/+scripts",
  ].join("|")})(?![\\w.-])`,
  "i",
)
const readers = new Set(
  "cat head tail ls wc grep egrep fgrep rg diff stat file tree du find sed awk gawk mawk sort uniq cut tr nl tac rev paste comm join column".split(
    " ",
  ),
)
/** The word that replaces the script of a skill in a command that runs it. */
export const runScript = "script"
const runners = new Set("node bun python python3 bash sh ruby perl".split(" "))
const script = /^~?[\w./-]+\/scripts\/[\w./-]+$/
const skillScript = /\bskills\/[\w.-]+\/scripts\//
const installed = /^((?:[\w.@-]*\/)*)node_modules\/\.bin\/[\w.-]+$/
/** Syntax that can run a program under another word: variables, substitutions, functions, aliases. */
const indirect = /[$`]|\(\s*\)|\b(?:function|alias)\b/
/** Characters that the shell expands. */
const hole = /\$\{[^}]*\}|\$\w+|\{[^}]*\}|\[[^\]]*\]|[$*?{}[\]]/g
const expands = /[$*?{}[\]]/
/** Longer segments are not matched as patterns, which would take too long. No protected name is longer. */
const maxSegment = 300
const maxPath = 4_096
const maxRuns = 100
/** Settings of git that name a program or its location. `git config --edit` may change any of them. */
const settings = [
  "alias|filter|include|includeif|credential|gpg|pager|difftool|mergetool|trailer|browser|man|web|protocol|sendemail|tar",
  "core\\.(hookspath|fsmonitor|editor|pager|sshcommand|askpass|gitproxy|attributesfile|worktree|alternaterefscommand)",
  "diff\\.[^=\\s]*(command|textconv|external)|merge\\.\\S+\\.driver|sequence\\.editor|interactive\\.difffilter",
  "init\\.templatedir|uploadpack\\.\\w+|remote\\.\\S+\\.(uploadpack|receivepack|vcs)|submodule\\.\\S+\\.update",
].join("|")
/** Options of `git config` that only read. */
const readsSetting =
  /^(\s+(--global|--local|--system|--worktree|--show-\w+|--name-only|--null|-z))*\s+(--get\S*|--list|-l|get|list)(\s|$)/i
const setting = new RegExp(`\\s((${settings})\\b|(-e|--edit|edit)(\\s|$))`, "i")
/** Escaped characters in `$'…'`. */
const escaped = /\\(?:x([\da-f]{1,2})|u([\da-f]{1,4})|U([\da-f]{1,8})|([0-7]{1,3}))/gi

/** Whether a command names a protected file and may do more than read it. */
export function mentionsOwnConfiguration(line: string): boolean {
  const command = withoutRunScripts(line)
  const text = withHome(unquoted(command))
  const isNamed =
    mentioned.test(text) ||
    setsWhatRuns(text) ||
    ownFolders().some((folder) => text.includes(folder)) ||
    (couldName(command) && couldName(withoutQuotedPatterns(command)))
  return isNamed && !onlyLooks(command)
}

/** Whether a command never writes, whatever its arguments are. */
export function onlyLooks(command: string): boolean {
  const { commands, unclear } = splitCommand(command)
  return unclear === undefined && commands.every((simple) => !simple.writes && isReader(simple))
}

/** Whether a program only reads its arguments. Its output redirection is judged elsewhere. */
export function isReader(simple: SimpleCommand): boolean {
  return readers.has(simple.words[0]?.text ?? "") && !isRisky(simple)
}

/** All commands that a line runs, nested ones too, except scripts of skills; undefined if it is unclear. */
export function commandsIn(line: string): SimpleCommand[] | undefined {
  const { commands, unclear } = splitCommand(withoutRunScripts(line))
  return unclear === undefined ? reach(commands) : undefined
}

/** Whether the shell could expand a segment with patterns or variables to a protected name. */
function couldBe(segment: string, name: string): boolean {
  // Most paths have one segment, and nothing follows it.
  if (segment === "") return false
  const text = segment.slice(0, maxSegment).toLowerCase()
  if (!expands.test(text)) return text === name
  const pattern = text.replace(hole, "*")
  return text.includes(name) || (pattern.replaceAll("*", "") !== "" && fitsText(pattern, name))
}

/** Every part of a command that may be a path, except scripts of skills that it runs. */
export function pathsIn(command: string): string[] {
  return withHome(unquoted(withoutRunScripts(command))).split(/[\s;&|<>()=`]+/)
}

/** The scripts that a command runs and that may belong to a skill, once per run. */
export function skillScriptsRun(command: string): string[] {
  if (!command.includes("/scripts/") || indirect.test(command)) return []
  const { commands, unclear } = splitCommand(command)
  if (unclear !== undefined) return []
  const scripts = commands.flatMap(({ words, sets }) => {
    const [program = "", argument = ""] = words.slice(0, 2).map(({ text }) => text)
    const path = runners.has(program) ? argument : program
    return !sets && mayBeSkillScript(path) ? [path] : []
  })
  return scripts.length > maxRuns ? [] : scripts
}

function mayBeSkillScript(path: string): boolean {
  if (path.length > maxPath) return false
  return script.test(path) && !path.includes("..") && (skillScript.test(path) || !mentioned.test(path))
}

/** Replaces the scripts and programs that a command runs, since running one does not change it. Each is replaced as often
 * as it runs, so that any other mention of it still counts. */
function withoutRunScripts(command: string): string {
  const rest = skillScriptsRun(command).reduce((text, path) => text.replace(path, () => runScript), command)
  return installedRun(command).reduce((text, path) => text.replace(path, () => "program"), rest)
}

/** The programs of installed packages that a command runs by path. */
function installedRun(command: string): string[] {
  if (!command.includes("node_modules/.bin/") || indirect.test(command)) return []
  const { commands, unclear } = splitCommand(command)
  if (unclear !== undefined) return []
  const programs = commands.map(({ words, sets }) => (sets ? "" : (words[0]?.text ?? "")))
  const found = programs.filter((path) => {
    const [isInstalled, parent] = (path.length <= maxPath && installed.exec(path)) || []
    return isInstalled && !mentioned.test(parent!) && !path.includes("..")
  })
  return found.length > maxRuns ? [] : found
}

function couldName(command: string): boolean {
  return pathsIn(command).some((path) => {
    if (!path.includes("/") && !expands.test(path)) return false
    const segments = path.split("/").filter(Boolean)
    return segments.some((segment, i) => {
      if (couldBeOurs(segment) || couldBeScript(segment, segments[i + 2])) return true
      const next = segments[i + 1]
      if (next === undefined) return false
      return protectedPairs.some(([folder, name]) => couldBe(next, name) && couldBe(segment, folder))
    })
  })
}

/** Whether the shell could expand two segments to "skills" and "scripts". */
function couldBeScript(skills: string, scripts = ""): boolean {
  return couldBe(scripts, "scripts") && couldBe(skills, "skills")
}

/** Whether the shell could expand a segment with patterns or variables to any protected name. */
function couldBeOurs(segment: string): boolean {
  if (!expands.test(segment)) return false
  if (segment.length > maxSegment) return /[$*?{[]/.test(segment)
  const pattern = segment.toLowerCase().replace(hole, "*")
  if (!pattern.includes("*")) return false
  // A pattern does not match a leading dot. A variable may expand to one, but it counts only if the segment has at least
  // three other characters; otherwise every segment with a variable would count.
  if (!pattern.startsWith(".") && (!/^[${]/.test(segment) || pattern.replaceAll("*", "").length < 3))
    return false
  return fitsAnyText(pattern, protectedNames)
}

/** Whether a command changes a setting of git that names a program. The line is checked in pieces: one pattern for the
 * whole line would take too long. */
function setsWhatRuns(text: string): boolean {
  return text.split(/[;&|\n]/).some((piece) => {
    const git = piece.search(/\bgit\b/i)
    const config = git < 0 ? -1 : piece.slice(git).search(/\bconfig\b/i)
    if (config < 0) return false
    const rest = piece.slice(git + config + "config".length)
    return !readsSetting.test(rest) && setting.test(rest)
  })
}

function unquoted(command: string): string {
  const plain = command.includes("$'") ? command.replace(escaped, characterOf) : command
  return plain.replace(/\$'|["'\\]/g, "")
}

function characterOf(_: string, ...[x, u, long, octal]: (string | undefined)[]): string {
  const code = octal === undefined ? Number.parseInt(x ?? u ?? long!, 16) : Number.parseInt(octal, 8)
  return code <= 0x10ffff ? String.fromCodePoint(code) : ""
}

function withHome(text: string): string {
  return text
    .replace(/(^|[\s=:<>])~(?=\/)/g, (_, before) => before + homedir())
    .replace(/\$\{?(HOME|XDG_\w+_HOME|VITAMIN_DATA_DIR)\b\}?/g, (whole, name) => Env.get(name) ?? whole)
}

function literal(name: string): string {
  return name.replaceAll(".", "\\.")
}
