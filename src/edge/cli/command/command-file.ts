// `vitamin command …`: lists command files and shows one.
import * as Command from "#ability/command/command.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import * as Log from "#kernel/process/log.ts"
import { nearest } from "#util/nearest.ts"

type Options = FolderOptions & { format: "text" | "json" }

export async function listCommandFiles(options: Options): Promise<void> {
  await inInstance(options, async () => {
    const { commands, problems } = await Command.list()
    if (options.format === "json")
      return printJson({ commands: commands.map(({ body: _, ...command }) => command), problems })
    if (!commands.length && !problems.length)
      return print("No commands. One is a file .vitamin/commands/NAME.md with the text of a prompt.")
    for (const command of commands) {
      const { name, hint, description } = command
      const call = `/${name}${hint ? ` ${hint}` : ""}`
      print(`${call.padEnd(30)} ${ownerOf(command).padEnd(8)} ${description}`, 40)
    }
    for (const { file, message } of problems) print(`! ${file}: ${message}`)
  })
}

export async function showCommandFile(options: Options & { name: string }): Promise<void> {
  await inInstance(options, async () => {
    const { commands } = await Command.list()
    const name = options.name.replace(/^\//, "")
    const command = Command.find(name, commands)
    if (!command) {
      const known = commands.map((one) => one.name)
      const near = nearest(name, known)
      throw new UsageError(
        `There is no command file "${name}".${near ? ` Did you mean "${near}"?` : ""} Available: ${known.join(", ") || "none"}`,
      )
    }
    if (options.format === "json") return printJson(command)
    const { rules, refusal } = command
    const rows = [
      ["name", `/${command.name}`],
      ["description", command.description],
      ["arguments", command.hint],
      ["allows", rules.map(({ permission, pattern }) => `${permission}:${pattern}`).join(", ")],
      ["model", command.model],
      ["agent", command.agent],
      ["mode", command.mode],
      ["file", command.file],
      ["not trusted", refusal && `its shell lines, allowed-tools, model and agent are ignored: ${refusal}`],
      ["problems", command.problems.join("; ")],
    ]
    for (const [title, value] of rows) if (value) print(`${title!.padEnd(13)} ${value}`, 14)
    print("")
    for (const line of command.body.split("\n")) print(line.replaceAll("\t", "    "))
  })
}

function ownerOf({ isOwn, refusal }: Command.Info): string {
  return isOwn ? "own" : refusal === undefined ? "project" : "unreviewed"
}

function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Text of a project's file must neither control the terminal nor look like a line of ours. */
function print(line: string, indent?: number): void {
  process.stdout.write(`${wrapList(Log.escapeControls(line), indent)}\n`)
}
