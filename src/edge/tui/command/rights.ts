// Lists to act on: what was allowed for good, and the skills.
import type { Command } from "./context.ts"

export const permissionsCommand: Command = {
  name: "permissions",
  about: "list what you have always allowed, and revoke it",
  async run(context) {
    const { client, say } = context
    for (;;) {
      const grants = await client.listGrants()
      if (!grants.length) return say("nothing is always allowed here")
      const items = grants.map(({ id, permission, pattern, agent, scope }) => ({
        value: id,
        label: `${permission}:${pattern}`,
        detail: `${agent}, ${scope === "session" ? "in one session" : "in this project"}`,
      }))
      const id = await context.ask.choose({ title: "Always allowed: choose one to revoke it", items })
      if (id === undefined) return
      await client.removeGrant({ id })
      say("revoked")
    }
  },
}

export const skillsCommand: Command = {
  name: "skills",
  about: "list the skills and use one",
  argument: "[name]",
  async values({ client }) {
    return (await client.listSkills()).map(({ name, description }) => ({ value: name, about: description }))
  },
  async run(context, rest) {
    const { client, edit, say } = context
    const skills = await client.listSkills()
    if (!skills.length) return say("there is no skill here")
    const items = skills.map(({ name, description, isOwn }) => ({
      value: name,
      label: name,
      detail: isOwn ? description : `${description} (of the project)`,
    }))
    const isKnown = skills.some(({ name }) => name === rest)
    if (rest && !isKnown) throw new Error(`There is no skill "${rest}".`)
    const name = rest || (await context.ask.choose({ title: "Skills", items }))
    if (name !== undefined) edit(`/${name} `)
  },
}
