// What a tool is: its definition, the context of one call, and what it returns. `tool.ts` re-exports these types.
import type { z } from "zod"
import type * as Permission from "#ability/permission/permission.ts"
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
