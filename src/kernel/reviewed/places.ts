// Places of a project that can make something run: files of MCP servers, agents, commands and skills.
import { basename, dirname, join } from "node:path"
import { namesIn, statOf } from "#util/file/path-info.ts"

/** In ascending precedence. */
export const serverFiles = [".vitamin/mcp.json", ".mcp.json"] as const
/** Folders of agents, in ascending precedence: those of other tools first. */
export const agentFolders = [
  ".claude/agents",
  ".opencode/agent",
  ".opencode/agents",
  ".vitamin/agents",
] as const
/** Folders of commands, in the work tree and in each folder down to the current one, nearest first. */
export const commandFolders = [
  ".vitamin/commands",
  ".claude/commands",
  ".opencode/command",
  ".opencode/commands",
] as const
/** Levels of folders below a folder of commands. */
export const commandDepth = 4
/** Files of hooks: vitamin's own, then those of other agents. */
export const hookFile = ".vitamin/hooks.json"
export const foreignHookFiles = [
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".codex/hooks.json",
] as const
/** The folder of guards that are written in TypeScript. */
export const guardFolder = ".vitamin/guards"
/** Folders of skills, in the work tree and in each folder down to the current one. */
export const skillFolders = [
  ".vitamin/skills",
  ".plaited/skills",
  ".agents/skills",
  ".claude/skills",
] as const
/** Bytes of the largest program that can be reviewed; a compiled server may be large. */
export const maxProgram = 64 << 20

const maxLevels = 8
const maxPluginFiles = 100

/** The files of `.vitamin/plugins`: pieces of the configuration in TypeScript. */
export function pluginFiles(root: string): string[] {
  const folder = join(root, ".vitamin/plugins")
  if (!statOf(folder)) return []
  return namesIn(folder)
    .filter(isGuardFile)
    .slice(0, maxPluginFiles)
    .map((name) => join(folder, name))
}

export function isPluginFile(path: string, root: string): boolean {
  return dirname(path) === join(root, ".vitamin/plugins") && isGuardFile(path)
}

/** Whether a file is an agent, by its name and folder. Agents of other tools are Markdown files. */
export function isAgentFile(path: string): boolean {
  const name = basename(path)
  if (isFolderOf("claude", path) || isFolderOf("opencode", path)) return /^[^.].*\.md$/.test(name)
  return /^[^.].*\.(ya?ml|md|ts)$/.test(name) && !/\.(d|test)\.ts$/.test(name)
}

export function isGuardFile(path: string): boolean {
  return /^[^.].*\.ts$/.test(basename(path)) && !/\.(d|test)\.ts$/.test(path)
}

/** Whether a file of agents is in the folder of another tool. */
export function isFolderOf(tool: "claude" | "opencode", path: string): boolean {
  return dirname(dirname(path)).endsWith(`/.${tool}`)
}

/** The folders from `directory` up to `root`. */
export function levels(directory: string, root: string): string[] {
  const found = [directory]
  for (let at = directory; at !== root && found.length < maxLevels; found.push(at)) {
    if (dirname(at) === at) return [root]
    at = dirname(at)
  }
  return found.includes(root) ? found : [...found, root]
}
