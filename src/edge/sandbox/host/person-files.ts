// The person's own instructions, agents, skills, commands, guards and hooks, which the sandbox cannot read where they are:
// their folder also has the configuration with its keys.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import { statOf } from "#util/file/path-info.ts"

const names = ["AGENTS.md", "agents", "skills", "commands", "guards", "hooks.json"]
const mostBytes = 8 << 20

export function personFiles(): Record<string, string> {
  const files: Record<string, string> = {}
  let left = mostBytes
  for (const path of names.flatMap((name) => filesAt(name))) {
    const file = join(Global.config(), path)
    left -= statOf(file)?.size ?? 0
    if (left < 0) {
      Log.warn("some of your own agents and skills are too large for the sandbox", { file })
      break
    }
    files[path] = readFileSync(file, "utf8")
  }
  return files
}

/** A link may lead into a circle, so the depth is bounded. */
function filesAt(name: string, depth = 0): string[] {
  const path = join(Global.config(), name)
  const stat = statOf(path)
  if (!stat?.isDirectory()) return stat?.isFile() ? [name] : []
  return depth > 8 ? [] : readdirSync(path).flatMap((child) => filesAt(join(name, child), depth + 1))
}
