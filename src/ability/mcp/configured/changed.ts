// How MCP servers stand, and the event that reports it.
import { z } from "zod"
import * as Bus from "#kernel/bus/bus.ts"
import { about } from "#util/about.ts"

export const State = z
  .enum(["idle", "connecting", "connected", "failed", "disconnected", "unusable"])
  .describe("idle: started when it is first used; unusable: it is never started, and `error` says why")
export type State = z.infer<typeof State>

export const Status = z.object({
  id: about("The server.", z.string()),
  name: about("Its name for people.", z.string()),
  source: z.string().describe("the file that names it, `configuration`, or who brought it"),
  transport: about("How it is reached.", z.enum(["http", "sse", "stdio"]).optional()),
  state: State,
  error: about("Why it failed.", z.string().optional()),
  protocol: z.string().optional().describe("the revision that is spoken with it"),
  version: z.string().optional().describe("its name for itself, and its version"),
  tools: about("How many tools it offers.", z.number()),
  resources: about("How many resources.", z.number()),
  prompts: about("How many prompts.", z.number()),
  problems: z.array(z.string()).describe("what of it cannot be offered"),
})
export type Status = z.infer<typeof Status>

export const Changed = Bus.define("mcp.changed", Status, {
  when: "An MCP server came up, failed, went away, or offers something else.",
})
