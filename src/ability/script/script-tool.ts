// The tool `script`: runs a promoted script, as `bash` would: with its permission, its limits and its sandbox. It is offered
// if the project has scripts that may run.
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { builtin } from "#ability/tool/builtin-tools.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { quoteWord } from "#util/quote-word.ts"
import { commandOf } from "./languages.ts"
import * as Script from "./script.ts"

const Parameters = z.strictObject({
  name: z.string().min(1),
  args: z.array(z.string().max(10_000)).max(100).optional(),
  timeout: z.int().min(1).max(3_600).optional().describe("seconds, default 120"),
})
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models do not see it. */
export const manual = {
  example: { name: "count-lines", args: ["src"] },
  arguments: {
    name: "Script to run.",
    args: "Arguments of the script.",
    timeout: "Seconds until the script is ended, at most 3600.",
  },
  limits:
    "Only scripts that a person has [promoted](context.md#promoted-scripts); asks for `vitamin script run NAME …`, as a command.",
}

const maxNamed = 40
const intro = "Run a script that a person of this project has promoted:"

/** Registers the tool with the scripts that may run now. */
export async function offerScripts(): Promise<void> {
  const ready = (await Script.list()).filter(({ state }) => state === "ready")
  const tool = scriptTool(ready)
  const before = ToolRegistry.find(tool.id)
  if (before ? before.description !== tool.description : ready.length) ToolRegistry.register(tool)
}

export function scriptTool(scripts: readonly Pick<Script.Info, "name" | "description">[]): Definition {
  const lines = scripts.slice(0, maxNamed).map(({ name, description }) => `- ${name}: ${description}`)
  const more = scripts.length - lines.length
  return {
    id: "script",
    routingName: "exec_script",
    description: [intro, ...lines, ...(more > 0 ? [`and ${more} more`] : [])].join("\n"),
    category: "shell",
    parameters: Parameters,
    readOnly: false,
    permission: (args) => [{ permission: "bash.execute", target: shownCommand(args as Args) }],
    execute: (args, context) => run(args as Args, context),
  }
}

async function run(args: Args, context: Context): Promise<Output> {
  const { name, args: words = [], timeout } = args
  // Checked again here: the file may have changed since the tool was offered.
  const script = await Script.use(name)
  const output = await builtin.bash.execute({ command: commandOf(script, words), timeout }, context)
  return { ...output, title: shownCommand(args) }
}

/** What a person is asked, and what a rule matches: the command that does the same in a terminal. */
function shownCommand({ name, args = [] }: Args): string {
  return ["vitamin", "script", "run", name, ...args].map(quoteWord).join(" ")
}
