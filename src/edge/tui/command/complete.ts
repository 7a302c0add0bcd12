// What the editor completes: files after `@`; after `/` our commands, then command files, skills and prompts of MCP servers;
// after the name of a command its argument.
import { type Choice, fits, type Kind } from "#edge/tui/editor/completion.ts"
import { commands } from "./commands.ts"
import { type Options, offers } from "./offers.ts"

export async function complete(kind: Kind, query: string, options: Options): Promise<Choice[]> {
  if (kind === "command") return completeCommand(query, options)
  if (kind !== "file") return completeArgument(kind.slice(1), query, options)
  const { client, signal } = options
  const files = await client.completeFile({ search: query }, signal ? { signal } : {})
  return files.map(({ path }) => ({ value: path }))
}

async function completeCommand(query: string, options: Options): Promise<Choice[]> {
  const own = commands.map(({ name, about, argument }) => ({
    value: name,
    about: argument ? `${argument}  ${about}` : about,
  }))
  const all = [...own, ...(await offers(options))]
  const rank = ({ value }: Choice) => (value === query ? 0 : value.startsWith(query) ? 1 : 2)
  return all.filter(({ value }) => value.includes(query)).sort((a, b) => rank(a) - rank(b))
}

/** The best match first: by the start of the value, inside it, by its letters, by its description. */
async function completeArgument(name: string, query: string, options: Options): Promise<Choice[]> {
  const command = commands.find((one) => one.name === name)
  const all = (await command?.values?.(options, query)) ?? []
  const wanted = query.toLowerCase()
  const rank = ({ value, about = "" }: Choice) => {
    const text = value.toLowerCase()
    if (text.startsWith(wanted)) return text === wanted ? 0 : 1
    if (text.includes(wanted)) return 2
    return fits(text, wanted) ? 3 : about.toLowerCase().includes(wanted) ? 4 : 5
  }
  return all.filter((choice) => rank(choice) < 5).sort((a, b) => rank(a) - rank(b))
}
