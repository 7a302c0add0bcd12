// Where a project keeps what can make something run: the files of MCP servers, agents and skills.
import { dirname } from "node:path"

/** From the weakest to the strongest. */
export const serverFiles = [".vitamin/mcp.json", ".mcp.json"] as const
export const agentFolder = ".vitamin/agents"
/** Folders of skills, in the work tree and in each folder on the way to the one that is worked in. */
export const skillFolders = [
  ".vitamin/skills",
  ".plaited/skills",
  ".agents/skills",
  ".claude/skills",
] as const
/** Bytes of a program that is compared with what was reviewed; a compiled server may be large. */
export const maxProgram = 64 << 20

const maxLevels = 8

/** Whether a file name in a folder of agents is that of an agent. */
export function isAgentFile(name: string): boolean {
  return /^[^.].*\.(ya?ml|md|ts)$/.test(name) && !/\.(d|test)\.ts$/.test(name)
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
