// What a tool is, and how one is made known: `Tool.define("read", () => ({ description, parameters, execute }))`.
// Defined inside an Instance it belongs to that one; outside, every Instance that comes later starts with it.

import { z } from "zod"
import type * as Permission from "#ability/permission/permission.ts"
import * as Bus from "#kernel/bus.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import * as ToolRegistry from "./tool-registry.ts"
import type { ToolSchema } from "./zod-to-tool-schema.ts"

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }
export type Category =
  | "file"
  | "code"
  | "document"
  | "search"
  | "api"
  | "data"
  | "shell"
  | "communication"
  | "utility"

/** Waits for a person. `onlyListeners`: nobody promised that there is one, so a question without a listener is declined. */
export type WhileAsking = <T>(work: (whom: { onlyListeners: boolean }) => Promise<T>) => Promise<T>

/** Around one call. `report` tells people how a long one goes on. */
export type Context = {
  sessionId: string
  messageId: string
  callId: string
  agent?: string
  signal: AbortSignal
  /** Where a person can be asked something else than for permission: how to wait for the answer. */
  whileAsking?: WhileAsking
  /** Real paths outside of the workspace that were allowed for this call; a folder stands for all below it. */
  granted?: readonly string[]
  /** Where the paths of this call really led when they were judged. Nothing else may be opened by their names. */
  reals?: readonly string[]
  /** What the rules say of something that shows only while the call runs: a file of a folder, a redirect. */
  judge?(need: Need): Permission.Action
  report?(text: string): void
  /** Tells the person something that is not about how the call goes on. */
  notice?(text: string): void
  /** Have another agent do a task in a session of its own, and get its answer. */
  spawn?(task: { task: string; agent?: string }): Promise<{ sessionId: string; text: string }>
  /** Look among tools that the model is not sent, the best first. */
  findTools?(query: string, limit: number): Promise<FoundTool[]>
  /** Look among the resources and prompts of an MCP server, the best first. */
  findOffers?(query: string, among: { server: string; limit: number }): Promise<FoundOffers>
}

/** `listed`: the model is sent it from the next request on. */
export type FoundTool = { id: string; description: string; parameters: ToolSchema; listed: boolean }

export type FoundOffer = { name: string; title?: string; description?: string }
export type FoundOffers = {
  resources: (FoundOffer & { uri: string; mimeType?: string })[]
  prompts: (FoundOffer & { arguments?: { name: string }[] })[]
}

/** `text` is what the model sees, `title` one short line for people. Images, in base64, are shown beside the text. */
export type Output = { text: string; data?: Json; title?: string; images?: OutputImage[] }
export type OutputImage = { data: string; mimeType: string }

/** Something that a call needs to be allowed: `file.read` of a path, `bash.execute` of a command. */
export type Need = Permission.Need

export type Definition = {
  id: string
  description: string
  category: Category
  parameters: z.ZodType
  /** What models are shown, where it did not begin as a Zod schema. */
  inputSchema?: ToolSchema
  /** The MCP server that it comes from. */
  server?: string
  /** It changes nothing, so that calls of it may run side by side. */
  readOnly: boolean
  /** Only for agents that name it: in every request it would cost more than it gives. */
  onlyNamed?: boolean
  permission?(args: unknown): Need[]
  /** What it would change, for a person who is asked: lines that begin with "-" go, those with "+" come. */
  preview?(args: unknown): string
  /** The bytes that it gives a file which had those of `before`. Throws where it would change nothing. */
  contentAfter?(args: unknown, before: Buffer | undefined): Buffer | undefined
  execute(args: unknown, context: Context): Promise<Output | Json>
}

/** What a factory gives; the arguments have the type of the schema. */
export type Plan<P extends z.ZodType> = {
  description: string
  category?: Category
  parameters: P
  readOnly?: boolean
  onlyNamed?: boolean
  permission?(args: z.output<P>): Need[]
  preview?(args: z.output<P>): string
  execute(args: z.output<P>, context: Context): Promise<Output | Json>
}

export const Started = Bus.define(
  "tool.started",
  z.object({ sessionId: z.string(), messageId: z.string(), callId: z.string() }),
  {
    live: true,
    when: "A call was allowed and runs now. `message.created` of its message may come later.",
  },
)

export const Progress = Bus.define(
  "tool.progress",
  z.object({
    sessionId: z.string(),
    callId: z.string(),
    text: about("What it printed since the last one.", z.string()),
  }),
  { live: true, when: "A call that takes its time goes on." },
)

export class InvalidId extends NamedError {
  constructor(id: string) {
    super(
      "Tool.InvalidId",
      `Tool id ${JSON.stringify(id)} cannot be used: models accept letters, digits, "_" and "-", at most 64`,
      { id },
    )
  }
}

/** Make a tool and register it. */
export function define<P extends z.ZodType>(id: string, factory: () => Plan<P>): Definition {
  if (!/^[\w-]{1,64}$/.test(id)) throw new InvalidId(id)
  const definition = Object.freeze({ category: "utility", readOnly: false, ...factory(), id } as const)
  ToolRegistry.register(definition)
  return definition
}
