// Places of a project that can make something run: files of MCP servers, agents and skills.
import { basename, dirname } from "node:path"

/** In ascending precedence. */
export const serverFiles = [".vitamin/mcp.json", ".mcp.json"] as const
/** Folders of agents, in ascending precedence: those of other tools first. */
export const agentFolders = [
  ".claude/agents",
  ".opencode/agent",
  ".opencode/agents",
  ".vitamin/agents",
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
