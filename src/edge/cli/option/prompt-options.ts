// The options of a prompt, in `vitamin run` and in the interactive terminal.
import type { Argv } from "yargs"
import { positiveInteger, positiveNumber, type RuleOptions, sandbox } from "#edge/cli/option/options.ts"
import type { FolderOptions } from "#edge/cli/process/in-instance.ts"
import { ownCommand } from "#util/own-command.ts"

/** What a command gets of these options. `timeout` is in seconds. */
export type PromptOptions = FolderOptions &
  RuleOptions & {
    message?: string[] | undefined
    model?: string | undefined
    agent?: string | undefined
    session?: string | undefined
    continue?: boolean | undefined
    mode?: "plan" | "act" | undefined
    file?: string[] | undefined
    image?: string[] | undefined
    imageMode?: "vision" | "ocr" | "auto" | undefined
    yes?: boolean | undefined
    maxSteps?: number | undefined
    maxCost?: number | undefined
    timeout?: number | undefined
    sandbox?: boolean | undefined
  }

export const repeated = { type: "string", array: true, nargs: 1, requiresArg: true } as const

export function promptOptions(yargs: Argv<FolderOptions>) {
  return yargs
    .option("model", { alias: "m", type: "string", describe: "model to use, as provider/model" })
    .option("agent", { type: "string", describe: `agent to run (see: ${ownCommand} agent list)` })
    .option("session", { type: "string", describe: "session to continue, by id or unique prefix" })
    .option("continue", {
      alias: "c",
      type: "boolean",
      describe: "continue the newest session of this work tree",
    })
    .conflicts("session", "continue")
    .option("mode", {
      choices: ["plan", "act"] as const,
      describe: "plan: read only; act: may change files",
    })
    .option("file", { ...repeated, describe: "attach a file, or lines of it: PATH[:FROM[-TO]]" })
    .option("image", { ...repeated, describe: "attach an image: a file or an address" })
    .option("image-mode", {
      choices: ["vision", "ocr", "auto"] as const,
      describe: "vision: send images to the model; ocr: read their text on this machine; auto: choose",
    })
    .implies("image-mode", "image")
    .option("allow", {
      ...repeated,
      describe: 'allow permission[:pattern], such as "bash.execute:npm *"',
    })
    .option("deny", { ...repeated, describe: "deny permission[:pattern]" })
    .option("yes", {
      alias: "y",
      type: "boolean",
      describe: "answer every permission question with yes",
    })
    .option("max-steps", positiveInteger("--max-steps", "stop after this many turns of the model"))
    .option("max-cost", positiveNumber("--max-cost", "stop when this many US dollars are spent"))
    .option("timeout", positiveNumber("--timeout", "stop after this many seconds"))
    .option("sandbox", sandbox)
}
