// `vitamin skill …`: lists skills, shows one, and checks them against the specification.
import { resolve } from "node:path"
import * as Skill from "#ability/skill/skill.ts"
import { validateSkills } from "#ability/skill/validate-skills.ts"
import { exitCodes } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import * as Log from "#kernel/process/log.ts"

type Options = FolderOptions & { format: "text" | "json" }

export async function listSkills(options: Options): Promise<void> {
  await inInstance(options, async () => {
    const { skills, problems } = await Skill.list({ isQuiet: true })
    if (options.format === "json")
      return printJson({ skills: skills.map(({ body: _, ...skill }) => skill), problems })
    if (!skills.length && !problems.length)
      return print("No skills. One is a folder .vitamin/skills/NAME with a SKILL.md.")
    for (const { name, isOwn, description } of skills)
      print(
        `${name.padEnd(24)} ${(isOwn ? "own" : "project").padEnd(8)} ${description.replace(/\s+/g, " ")}`,
        34,
      )
    for (const { file, message } of problems) print(`! ${file}: ${message}`)
  })
}

export async function showSkill(options: Options & { name: string }): Promise<void> {
  await inInstance(options, async () => {
    const skill = await Skill.get(options.name)
    if (options.format === "json") return printJson(skill)
    for (const [name, value] of linesOf(skill)) if (value) print(`${name.padEnd(13)} ${value}`, 14)
    print("")
    for (const line of skill.body.split("\n")) print(line.replaceAll("\t", "    "))
  })
}

export async function validateAll(options: Options & { path?: string | undefined }): Promise<void> {
  await inInstance(options, async () => {
    const path = options.path === undefined ? undefined : resolve(directoryOf(options), options.path)
    const verdicts = await validateSkills(path)
    const bad = verdicts.filter(({ isValid }) => !isValid)
    if (bad.length) process.exitCode = exitCodes.failed
    if (options.format === "json") return printJson(verdicts)
    for (const { file, problems } of verdicts)
      for (const { line, level, message } of problems)
        print(`${file}:${line}: ${level === "warning" ? "warning: " : ""}${message}`)
    print(`${countOf(verdicts.length, "skill")}, ${bad.length} with faults`)
  })
}

function linesOf(skill: Skill.Info): [string, string | undefined][] {
  const { references, scripts, metadata, isOwn, isTrusted } = skill
  return [
    ["name", skill.name],
    ["description", skill.description],
    ["owner", isOwn ? "yours" : `the project's${isTrusted ? "" : ", which is not trusted"}`],
    ["license", skill.license],
    ["needs", skill.compatibility],
    [
      "metadata",
      Object.entries(metadata)
        .map(([key, value]) => `${key}: ${value}`)
        .join(", "),
    ],
    ["allowed tools", skill.allowedTools.join(" ")],
    ["scripts", scripts.map(({ file }) => file).join(", ")],
    [
      "references",
      references.map(({ displayText, relativePath }) => `${displayText} (${relativePath})`).join(", "),
    ],
    ["assets", skill.assets.join(", ")],
    ["MCP servers", Object.keys(skill.mcp).length ? JSON.stringify(skill.mcp) : ""],
    ["file", skill.file],
    ["problems", skill.problems.map(({ line, message }) => `line ${line}: ${message}`).join("; ")],
  ]
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Text of a project's file must neither control the terminal nor look like a line of ours. */
function print(line: string, indent?: number): void {
  process.stdout.write(`${wrapList(Log.escapeControls(line), indent)}\n`)
}
