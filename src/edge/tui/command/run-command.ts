// A prompt that begins with `/name`: one of our commands, or else a command file, a skill or a prompt of an MCP server,
// which the engine knows how to read.
import { nearest } from "#util/nearest.ts"
import { commands } from "./commands.ts"
import type { Context } from "./context.ts"
import { offers } from "./offers.ts"

/** Names that other terminals have for our commands. */
const elsewhere: Readonly<Record<string, string>> = {
  ...{ exit: "quit", clear: "new", resume: "sessions", rewind: "undo", approvals: "mode", status: "doctor" },
  ...{ usage: "cost", memory: "init", agents: "agent", models: "model", connect: "login", share: "export" },
}
/** A path such as `/etc/hosts` is no command. */
const form = /^\/([^\s/]+)(?:\s+(.*))?$/s

/** Whether the text begins with a command of the terminal. */
export function isCommand(text: string): boolean {
  const name = form.exec(text)?.[1]
  return commands.some((one) => one.name === name)
}

/** False if the text is a prompt for the model. */
export async function runCommand(context: Context, text: string): Promise<boolean> {
  const [, name, rest = ""] = form.exec(text) ?? []
  if (name === undefined) return false
  const command = commands.find((one) => one.name === name)
  if (command) {
    const title = context.view().paint("dim", `/${name}`)
    await command.run({ ...context, print: (lines) => context.print([title, ...lines]) }, rest.trim())
    return true
  }
  const offered = await offers({ client: context.client, session: context.talk.session?.id })
  // A command file in a folder may be called by its last name alone.
  if (offered.some(({ value }) => value === name || value.endsWith(`:${name}`))) return false
  const known = Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined
  const meant =
    known ?? nearest(name, [...commands.map((one) => one.name), ...offered.map(({ value }) => value)])
  context.say(`there is no command /${name}${meant ? `; did you mean /${meant}?` : "; /help lists them"}`)
  context.edit(text)
  return true
}
