// What crosses the pipe. The guest asks for records, models, questions and snapshots, and notes events; the parent asks it to
// run a prompt. Every message is checked with one of these schemas.
import { z } from "zod"
import { Rule } from "#ability/permission/rule.ts"
import { PromptPart } from "#engine/record/prompt-part.ts"

const Text = z.string().max(200)
const Long = z.string().max(200_000)
const Key = z.array(z.string().min(1).max(200)).min(1).max(4)

/** Of a record: its text, or null if there is none. `before` is the hash of the text that a change began with. */
export const Get = z.strictObject({ key: Key })
export const GetMany = z.strictObject({ prefix: Key, names: z.array(Text).max(500) })
export const List = z.strictObject({ prefix: Key })
export const Swap = z.strictObject({ key: Key, before: z.string().max(64).nullable(), after: z.string() })
export const Put = z.strictObject({ key: Key, text: z.string() })
export const Swapped = z.object({ isStored: z.boolean(), text: z.string().nullable() })

/** What the guest reads often, so that it need not ask: the text of a record, null for a missing one, or the names below a
 * key. The guest trusts its parent. */
export const Told = z.object({ key: Key, value: z.union([z.string().nullable(), z.array(z.string())]) })
export type Told = z.infer<typeof Told>

export const Event = z.strictObject({ type: Text, payload: z.unknown() })

export const Choose = z.strictObject({ agent: Text.nullable(), names: z.array(Text.nullable()).max(20) })
/** The parts of an answer come as notes with the number of their stream. */
export const Stream = z.strictObject({ stream: z.number().int(), model: Text, options: z.looseObject({}) })
export const Parts = z.strictObject({
  stream: z.number().int(),
  parts: z.array(z.looseObject({ type: z.string() })),
})

const Need = z.object({
  permission: Text,
  target: Long,
  cwd: z.string().max(5_000).optional(),
  fingerprint: Text.optional(),
})
export const Ask = z.strictObject({
  sessionId: Text,
  messageId: Text,
  callId: Text,
  agent: Text,
  agents: z.array(Text).max(20).optional(),
  task: Long.optional(),
  tool: Text,
  needs: z.array(Need).max(200),
  protected: z.literal(true).optional(),
  title: Long,
  preview: Long.optional(),
  onlyListeners: z.boolean(),
})
export type Ask = z.infer<typeof Ask>

export const Elicit = z.strictObject({
  server: Text,
  sessionId: Text.optional(),
  question: z.union([
    z.strictObject({ mode: z.literal("form"), message: Long, schema: z.record(z.string(), z.unknown()) }),
    z.strictObject({ mode: z.literal("url"), message: Long, url: Long }),
  ]),
  onlyListeners: z.boolean(),
})

export const Take = z.strictObject({
  sessionId: Text,
  messageId: Text,
  callId: Text,
  tool: Text,
  paths: z.union([z.literal("worktree"), z.array(z.string().max(5_000)).max(1_000)]),
  note: z.string().max(1_000).optional(),
})
export const Handle = z.strictObject({ handle: z.number().int() })

export const Image = z.strictObject({ sessionId: Text, hash: z.string().regex(/^[0-9a-f]{64}$/) })
export const NewImage = z.strictObject({ sessionId: Text, bytes: z.string().regex(/^[A-Za-z0-9+/]*=*$/) })

/** What the parent tells about a prompt. The guest trusts its parent; the schema is for the type. */
export const Prompt = z.strictObject({
  given: z.object({
    directory: z.string(),
    layers: z.array(z.object({ source: z.string(), value: z.record(z.string(), z.unknown()) })),
    /** The person's own instructions, agents, skills, commands and guards, by path from the configuration folder. */
    files: z.record(z.string(), z.string()),
    servers: z.array(z.unknown()),
    trust: z
      .object({ directory: z.string(), time: z.number(), files: z.record(z.string(), z.unknown()) })
      .nullable(),
    /** The trace of the prompt, if telemetry is on. */
    trace: z.object({ id: z.string(), sampled: z.boolean() }).optional(),
  }),
  /** As they are when the prompt is sent. */
  records: z.array(Told),
  /** The answer to the guest's first question for a model, if it asks this one. */
  model: z.object({ asked: Choose, chosen: z.looseObject({}) }).nullable(),
  /** The hashes of the session's images. */
  images: z.array(z.string()),
  work: z.object({
    sessionId: z.string(),
    parts: z.array(PromptPart),
    typed: z.array(PromptPart).optional(),
    command: z.string().optional(),
    mentionsIn: z.string().optional(),
    isText: z.boolean().optional(),
    refresh: z.boolean().optional(),
    agent: z.string().optional(),
    model: z.string().optional(),
    asks: z.enum(["wait", "deny", "once"]).optional(),
    replyLimit: z.number().optional(),
    rules: z.array(Rule).optional(),
    preset: z.enum(["ask", "sandboxed"]).optional(),
    directories: z.array(z.string()).optional(),
    maxSteps: z.number().optional(),
    maxCost: z.number().optional(),
    outputSchema: z.record(z.string(), z.unknown()).optional(),
    timing: z.object({ stall: z.number(), keepEvery: z.number(), reply: z.number() }),
    promptId: z.string().optional(),
    isJob: z.boolean().optional(),
    isResumed: z.boolean().optional(),
  }),
})
export type Prompt = z.infer<typeof Prompt>
export const Answered = z.object({ messageId: Text })
