// Route for the skills of a project and of the person.
import { z } from "zod"
import { defineRoute, type Route } from "#edge/server/http/route.ts"
import { Skill } from "#edge/server/http/schemas.ts"

export function skillRoutes(): Route[] {
  return [
    defineRoute({
      id: "listSkills",
      method: "GET",
      role: "reader",
      path: "/skill",
      summary: "The skills of the project and of the person.",
      response: z.array(Skill),
      handle: async () => {
        // Imported on demand, since the skill reader loads a YAML parser.
        const { list } = await import("#ability/skill/skill.ts")
        return (await list()).skills
      },
    }),
  ]
}
