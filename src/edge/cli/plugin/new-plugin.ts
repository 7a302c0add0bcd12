// `vitamin plugin new`: the folder of a plugin with one command, one skill and a test that runs.
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { UsageError } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions } from "#edge/cli/process/in-instance.ts"
import { ownCommand } from "#util/own-command.ts"

export async function newPlugin(options: FolderOptions & { name: string }): Promise<void> {
  const { name } = options
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name))
    throw new UsageError(`"${name}" is no name of a plugin; use small letters, digits and "-".`)
  const folder = join(directoryOf(options), name)
  if (existsSync(folder)) throw new UsageError(`${folder} exists already.`)
  for (const [path, content] of Object.entries(filesFor(name))) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content, { flag: "wx" })
  }
  process.stdout.write(
    `Created: ${folder}\n  cd ${name} && node --test    runs its test\n  ${ownCommand} plugin add ./${name}    installs it\n`,
  )
}

function filesFor(name: string): Record<string, string> {
  const manifest = { name, version: "0.1.0", description: `What ${name} is for.` }
  const packageJson = { name, version: "0.1.0", type: "module", scripts: { test: "node --test" } }
  return {
    ".claude-plugin/plugin.json": json(manifest),
    "package.json": json(packageJson),
    "commands/hello.md": `---
description: Greet somebody
argument-hint: <name>
---
Greet $1 in one sentence.
`,
    [`skills/${name}/SKILL.md`]: `---
name: ${name}
description: Say when this skill helps, in the words that people use.
---
Say what to do, step by step.
`,
    "test/plugin.test.js": `// Asks vitamin what the plugin contains. Nothing is installed.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { test } from "node:test"
import { fileURLToPath } from "node:url"

const folder = fileURLToPath(new URL("..", import.meta.url))

test("vitamin finds all parts of the plugin", () => {
  const command = process.env.VITAMIN ?? "vitamin"
  const shown = execFileSync(command, ["plugin", "show", folder, "--format", "json"], { encoding: "utf8" })
  const { name, does, problems } = JSON.parse(shown)
  assert.equal(name, ${JSON.stringify(name)})
  assert.deepEqual(problems, [])
  const calls = does.map((part) => part.does)
  assert.ok(calls.includes("/${name}:hello"), calls.join("\\n"))
})
`,
    "README.md": `# ${name}

\`vitamin plugin add ./${name}\` installs it; \`/${name}:hello Ann\` runs its command.
`,
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
