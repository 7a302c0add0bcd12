// Routes for what a person chooses from while typing: usable models, files, commands.
import { z } from "zod"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Command, FileCompletion, UsableModel } from "#edge/server/http/use-schemas.ts"
import * as Session from "#engine/session/session.ts"
import * as Person from "#kernel/person.ts"

const mostFiles = 50

export function choiceRoutes(): Route[] {
  return [
    defineRoute({
      id: "listUsableModels",
      method: "GET",
      role: "reader",
      path: "/model",
      summary:
        "The models that can be used now: their provider has a key, a server on this machine has them, or they are built in.",
      response: z.array(UsableModel),
      async handle() {
        const { usableModels } = await import("#ability/provider/usable-models.ts")
        return (await usableModels()).map((model) => ({ ...model }))
      },
    }),
    defineRoute({
      id: "completeFile",
      method: "GET",
      role: "reader",
      path: "/file",
      summary:
        "Files and folders whose path has the letters of `search` in order, the best first, ignored ones last.",
      query: z.object({ search: z.string().max(1_000).optional().describe("what the person has typed") }),
      response: z.array(FileCompletion),
      async handle({ query: { search = "" } }) {
        const { completePath } = await import("#ability/file/complete-path.ts")
        return completePath(search, mostFiles)
      },
    }),
    defineRoute({
      id: "listCommands",
      method: "GET",
      role: "reader",
      path: "/command",
      summary:
        "The commands that a prompt may begin with: `/name` of command files, `/skill`, and `/server:prompt` of MCP servers. Starts no server.",
      query: z.object({
        session: z.string().optional().describe("include servers that a client brought for this session"),
      }),
      response: z.array(Command),
      async handle({ query }) {
        if (query.session !== undefined && Person.limited()) await Session.get(query.session)
        const { listCommands } = await import("#engine/attach/list-commands.ts")
        return listCommands(query.session)
      },
    }),
  ]
}
