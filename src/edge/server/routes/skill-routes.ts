// The skills of a project over HTTP, those of the person included.
import { z } from "zod"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Skill } from "#edge/server/http/schemas.ts"

export function skillRoutes(): Route[] {
  return [
    defineRoute({
      id: "listSkills",
      method: "GET",
      path: "/skill",
      summary: "The skills of the project and of the person.",
      response: z.array(Skill),
      handle: async () => {
        // What reads skills knows YAML; a server that is never asked for them does without.
        const { list } = await import("#ability/skill/skill.ts")
        return (await list()).skills
      },
    }),
  ]
}
