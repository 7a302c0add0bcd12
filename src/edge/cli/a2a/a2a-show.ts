// `vitamin a2a show`: the card of a remote agent, as data. Nothing of it is used or kept.

import { readCard } from "#ability/a2a/read-card.ts"
import { createRemoteFetch } from "#ability/a2a/remote-fetch.ts"
import * as AgentRegistry from "#ability/agent/agent-registry.ts"
import { UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import { plainText } from "#util/plain-text.ts"

const maxText = 500
const maxSkills = 100

export async function showRemote(
  options: FolderOptions & { name: string; format: "text" | "json" },
): Promise<void> {
  await inInstance(options, async () => {
    await AgentRegistry.load()
    const remote = AgentRegistry.remoteOf(options.name)
    if (!remote)
      throw new UsageError(
        `No remote agent is named ${JSON.stringify(options.name)}. The key "a2a" of the configuration names them.`,
      )
    const signal = new AbortController().signal
    const { card, chosen } = await readCard(remote, { fetch: createRemoteFetch(remote), signal })
    const skills = card.skills.slice(0, maxSkills).map(({ id, name, description }) => ({
      id: shown(id),
      name: shown(name),
      description: shown(description),
    }))
    const found = {
      name: shown(card.name),
      version: shown(card.version),
      description: shown(card.description),
      url: chosen.url,
      protocol: `${shown(chosen.protocolBinding)} ${shown(chosen.protocolVersion)}`,
      streaming: card.capabilities?.streaming === true,
      skills,
    }
    if (options.format === "json") return void process.stdout.write(`${JSON.stringify(found, null, 2)}\n`)
    for (const [key, value] of Object.entries(found))
      if (typeof value !== "object") print(`${key.padEnd(12)} ${value}`, 13)
    for (const { id, name, description } of skills) print(`${id.padEnd(16)} ${description || name}`, 17)
  })
}

/** The text of another machine must not control the terminal. */
function shown(text: string): string {
  return plainText(text, maxText).replace(/\s+/g, " ")
}

function print(line: string, indent: number): void {
  process.stdout.write(`${wrapList(line, indent)}\n`)
}
