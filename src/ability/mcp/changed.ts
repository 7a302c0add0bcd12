// The event that tells of MCP servers: one came up, failed, went away, or offers something else.
import { z } from "zod"
import * as Bus from "#kernel/bus.ts"

export const State = z
  .enum(["idle", "connecting", "connected", "failed", "disconnected", "unusable"])
  .describe("idle: started when it is first used; unusable: it is never started, and `error` says why")
export type State = z.infer<typeof State>

export const Status = z.object({
  id: z.string(),
  name: z.string(),
  source: z.string().describe("the file that names it, `configuration`, or who brought it"),
  transport: z.enum(["http", "stdio"]).optional(),
  state: State,
  error: z.string().optional(),
  protocol: z.string().optional().describe("the revision that is spoken with it"),
  version: z.string().optional().describe("its name for itself, and its version"),
  tools: z.number(),
  resources: z.number(),
  prompts: z.number(),
  problems: z.array(z.string()).describe("what of it cannot be offered"),
})
export type Status = z.infer<typeof Status>

export const Changed = Bus.define("mcp.changed", Status)
