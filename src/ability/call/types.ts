// The types of a tool and of its calls: the definition, the context of one call, the step that is judged, the slots of the
// host, the result. `tool.ts` and `run-tool.ts` re-export them.
import type { z } from "zod"
import type * as Permission from "#ability/permission/permission.ts"
import type { Editor } from "./editor.ts"
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

/** Runs `work` while the session waits for a person. `onlyListeners`: a question that no subscriber takes is declined
 * at once. */
export type WhileAsking = <T>(work: (whom: { onlyListeners: boolean }) => Promise<T>) => Promise<T>

/** The context of one call. `report` shows people the progress of a long call. */
export type Context = {
  sessionId: string
  messageId: string
  callId: string
  agent?: string
  signal: AbortSignal
  /** Waits for a person's answer to a question that is not about permission. Undefined if nobody can be asked. */
  whileAsking?: WhileAsking
  /** Real paths outside the workspace that were allowed for this call; a folder includes everything below it. */
  granted?: readonly string[]
  /** The real paths when the call was judged. Nothing else may be opened by these names. */
  reals?: readonly string[]
  /** What the rules say about a target that is known only while the call runs: a file of a folder, a redirect. */
  judge?(need: Need): Permission.Action
  report?(text: string): void
  /** Tells the person something besides the progress of the call. */
  notice?(text: string): void
  /** The editor in which the session is open, if it offers files or terminals. */
  editor?: Editor
  /** Run a task with another agent in a session of its own, and return its answer. */
  spawn?(task: { task: string; agent?: string }): Promise<{ sessionId: string; text: string }>
  /** Give a task to a specialist, or carry out the rest of the plan. Only for an orchestrator. */
  delegate?(order: Order): Promise<Delegated>
  /** Search the tools that are not in the requests, best first. */
  findTools?(query: string, limit: number): Promise<FoundTool[]>
  /** Search the resources and prompts of an MCP server, the best first. */
  findOffers?(query: string, among: { server: string; limit: number }): Promise<FoundOffers>
}

export type Order = { agent: string; task: string } | { resume: true }

/** `agent`: who did it, unless several did. `sessions`: where to read more. */
export type Delegated = { text: string; agent?: string; sessions: string[] }

/** `listed`: the next request includes it. */
export type FoundTool = { id: string; description: string; parameters: ToolSchema; listed: boolean }

export type FoundOffer = { name: string; title?: string; description?: string }

export type FoundOffers = {
  resources: (FoundOffer & { uri: string; mimeType?: string })[]
  prompts: (FoundOffer & { arguments?: { name: string }[] })[]
}

/** `text` is what the model sees, `title` one short line for people. Images, in base64, are shown beside the text. */
export type Output = {
  text: string
  data?: Json
  title?: string
  images?: OutputImage[]
  /** For people: from which character on the text has which style, as SGR codes. */
  colors?: [at: number, sgr: string][]
}

export type OutputImage = { data: string; mimeType: string }

/** Something that needs permission: `file.read` of a path, `bash.execute` of a command. */
export type Need = Permission.Need

export type Definition = {
  id: string
  description: string
  category: Category
  parameters: z.ZodType
  /** The JSON Schema for models, if the tool was not defined by a Zod schema. */
  inputSchema?: ToolSchema
  /** The MCP server of the tool. */
  server?: string
  /** It changes nothing, so its calls may run in parallel. */
  readOnly: boolean
  /** Only for agents that name it: it is not worth its tokens in every request. */
  onlyNamed?: boolean
  /** The name by which specialists get the tool, see `partitionTools`; default: the id. */
  routingName?: string
  permission?(args: unknown, context?: Pick<Context, "sessionId">): Need[]
  /** The change for the person who is asked: lines with "-" are removed, lines with "+" are added. */
  preview?(args: unknown): string
  /** The new bytes of a file that has the bytes `before`. Throws if nothing would change. */
  contentAfter?(args: unknown, before: Buffer | undefined): Buffer | undefined
  execute(args: unknown, context: Context): Promise<Output | Json>
}

export type Call = { id: string; name: string; arguments?: Json; invalid?: string }

export type Step = { call: Call; tool: Definition; args: unknown; needs: Need[]; context: Context }

export type Refusal = { message: string }

/** What the call may reach: `granted` outside the workspace, `reals` by the paths that it names, `judge` while it runs. */
export type Grant = Pick<Context, "reals" | "judge"> & { granted: readonly string[] }

/** The arguments that a call is to have instead of its own. */
export type Changed = { arguments: Json }

export type Slots = {
  /** Sees a call first; it may refuse the call, or change its arguments, which are then checked again. */
  before?(step: Step): Promise<Refusal | Changed | undefined>
  constrain?(step: Step): Promise<Refusal | undefined> | Refusal | undefined
  permit?(step: Step): Promise<Refusal | Grant | undefined> | Refusal | Grant | undefined
  snapshot?(step: Step): Promise<void> | void
  /** Sees the result of a call that ran, and may change it. */
  after?(step: Step, result: Omit<Result, "duration">): Promise<Omit<Result, "duration">>
}

export type Result = {
  status: "success" | "error" | "interrupted"
  /** What the model sees, at most 50 KB. */
  text: string
  data?: Json
  title?: string
  images?: OutputImage[]
  colors?: Output["colors"]
  error?: { message: string; stack?: string; recoverable: boolean }
  /** The slot that refused the call. */
  refused?: "constraint" | "hook" | "permission"
  /** Milliseconds that the tool itself ran, without the wait for permission; 0 if it never ran. */
  duration: number
}
