// Commands that explain: what can be typed, which keys do what, and what can be reached.
import { type Action, actions } from "#edge/tui/input/actions.ts"
import type { Command } from "./context.ts"
import { offers } from "./offers.ts"
import { tableLines } from "./table-lines.ts"

const mostNames = 8
const mostOffered = 30

export function helpCommand(commands: () => readonly Command[]): Command {
  return {
    name: "help",
    about: "list the commands",
    async run({ print, view, client, talk }) {
      const now = view()
      const offered = await offers({ client, session: talk.session?.id })
      const rows = commands().map(({ name, about, argument }) => [
        argument ? `/${name} ${argument}` : `/${name}`,
        about,
      ])
      rows.push(...offered.slice(0, mostOffered).map(({ value, about = "" }) => [`/${value}`, about]))
      const more = "@ attaches a file, ! runs a shell line, /keys lists the keys."
      print([...tableLines(rows, now, ["accent"]), now.paint("dim", more)])
    },
  }
}

export const keysCommand: Command = {
  name: "keys",
  about: "list the keys; the setting terminal.keys changes them",
  run({ print, view, say, keymap }) {
    if (!keymap) return say("your terminal edits the line; Ctrl-C stops the turn, Ctrl-D quits")
    const names = Object.keys(actions) as Action[]
    const rows = names.map((name) => [keymap.keysOf(name).join(", ") || "no key", name, actions[name].about])
    print(tableLines(rows, view(), ["accent", "dim"]))
  },
}

export const doctorCommand: Command = {
  name: "doctor",
  about: "show what can be reached: models, keys, MCP servers",
  async run({ client, print, view, command }) {
    const [info, providers, models, servers] = await Promise.all([
      client.getInfo(),
      client.listProviders(),
      client.listUsableModels(),
      client.listMcpServers(),
    ])
    const keys = providers.filter(({ hasKey }) => hasKey).map(({ name }) => name)
    const now = view()
    const rows = [
      ["version", `${info.version}, process ${info.pid}`],
      ["folder", `${info.directory}, ${info.trusted ? "trusted" : "not trusted"}`],
      ["keys", listed(keys)],
      ["models", listed(models.map(({ provider, id }) => `${provider}/${id}`))],
      ...servers.map(({ id, state, error }) => [`mcp ${id}`, error ? `${state}: ${error}` : state]),
    ]
    const more = `All checks of this machine: ${command} doctor`
    print([...tableLines(rows, now, ["strong"]), now.paint("dim", more)])
  },
}

function listed(names: readonly string[]): string {
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : ""
  return names.slice(0, mostNames).join(", ") + more || "none"
}
