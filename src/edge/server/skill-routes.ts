// The skills of a project over HTTP, those of the person included.
import { z } from "zod"
import { defineRoute, type Route } from "./route.ts"

const Script = z.object({ name: z.string(), file: z.string(), description: z.string(), runner: z.string() })
const Reference = z.object({ displayText: z.string(), relativePath: z.string(), file: z.string() })
const Info = z.object({
  name: z.string(),
  description: z.string(),
  file: z.string(),
  isOwn: z.boolean().describe("the person's own, not the project's"),
  isTrusted: z.boolean().describe("its MCP servers may start"),
  isManual: z.boolean().describe("it is used only when it is called for"),
  license: z.string().optional(),
  compatibility: z.string().optional(),
  metadata: z.record(z.string(), z.string()),
  allowedTools: z.array(z.string()),
  scripts: z.array(Script),
  references: z.array(Reference),
  assets: z.array(z.string()),
  problems: z.array(z.object({ level: z.string(), line: z.number(), message: z.string() })),
})

export function skillRoutes(): Route[] {
  return [
    defineRoute({
      method: "GET",
      path: "/skill",
      summary: "The skills of the project and of the person.",
      response: z.array(Info),
      handle: async () => {
        // What reads skills knows YAML; a server that is never asked for them does without.
        const Skill = await import("#ability/skill/skill.ts")
        return (await Skill.list()).skills
      },
    }),
  ]
}
