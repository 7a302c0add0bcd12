// The commands that a prompt may begin with: `/skill` and `/server:prompt`, as `expand-command.ts` expands them.
import * as Skill from "#ability/skill/skill.ts"
import { serverPrompts } from "./expand-command.ts"

/** `name` is what is typed after the slash. Arguments are given as name=value. */
export type Command = {
  name: string
  kind: "skill" | "prompt"
  description: string
  server?: string
  arguments?: { name: string; description?: string; required: boolean }[]
}

/** Skills first, each kind by name. With a session, servers that its client added are included. No server is started. */
export async function listCommands(sessionId?: string): Promise<Command[]> {
  const { skills } = await Skill.list({ isQuiet: true })
  const prompts = [...(await serverPrompts(sessionId))].map(
    ([name, { server, prompt }]): Command => ({
      name,
      kind: "prompt",
      description: prompt.description ?? prompt.title ?? "",
      server,
      arguments: (prompt.arguments ?? []).map(({ name, description, required = false }) => ({
        name,
        ...(description === undefined ? {} : { description }),
        required,
      })),
    }),
  )
  const own = skills.map(({ name, description }): Command => ({ name, kind: "skill", description }))
  return [own, prompts].flatMap((list) => list.sort((a, b) => (a.name < b.name ? -1 : 1)))
}
