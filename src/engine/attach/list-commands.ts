// The commands that a prompt may begin with: `/name` of a command file, `/skill` and `/server:prompt`, as
// `expand-command.ts` expands them.
import * as Command from "#ability/command/command.ts"
import * as Skill from "#ability/skill/skill.ts"
import { serverPrompts } from "./expand-command.ts"

/** `name` is what is typed after the slash. The arguments of a server's prompt are given as name=value; `hint` says which a
 * command file takes. */
export type Offered = {
  name: string
  kind: "command" | "skill" | "prompt"
  description: string
  hint?: string
  server?: string
  arguments?: { name: string; description?: string; required: boolean }[]
}

/** Command files first, then skills, each kind by name. With a session, servers that its client added are included. No server is started. */
export async function listCommands(sessionId?: string): Promise<Offered[]> {
  const { skills } = await Skill.list({ isQuiet: true })
  const isSkill = (name: string) => skills.some((skill) => skill.name === name && skill.isTrusted)
  const files = (await Command.list()).commands
    .filter(({ name }) => !isSkill(name))
    .map(({ name, description, hint }): Offered => {
      return { name, kind: "command", description, ...(hint === undefined ? {} : { hint }) }
    })
  const prompts = [...(await serverPrompts(sessionId))].map(
    ([name, { server, prompt }]): Offered => ({
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
  const isFile = (name: string) => files.some((file) => file.name === name)
  const own = skills
    .filter(({ name }) => !isFile(name))
    .map(({ name, description }): Offered => ({ name, kind: "skill", description }))
  return [files, own, prompts].flatMap((list) => list.sort((a, b) => (a.name < b.name ? -1 : 1)))
}
