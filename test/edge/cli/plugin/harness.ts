// Plugins for tests: the files of one, its folder beside the project, and the lock file.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Tmp } from "../../../fixture/tmpdir.ts"

export type Files = Record<string, string>

export const demo: Files = {
  ".claude-plugin/plugin.json": JSON.stringify({ name: "demo", version: "1.0.0", description: "A demo" }),
  "commands/hello.md":
    "---\ndescription: Greets\nallowed-tools: Bash(cat:*)\n---\nHello $1 from !`cat ${CLAUDE_PLUGIN_ROOT}/data.txt`",
  "data.txt": "DATA-1\n",
  "agents/reviewer.md": "---\nname: reviewer\ndescription: Reviews\n---\nYou are the DEMO reviewer.",
  "skills/notes/SKILL.md": "---\nname: notes\ndescription: Writes release notes.\n---\nUse the word AHOY.",
}

export function writeFiles(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

export function beside(tmp: Tmp, name: string): string {
  return join(tmp.path, "..", name)
}

export function lockOf(tmp: Tmp): {
  plugins: { name: string; version: string; content: string; source: object }[]
} {
  return JSON.parse(readFileSync(join(tmp.env.XDG_CONFIG_HOME!, "vitamin/plugins.lock.json"), "utf8"))
}
