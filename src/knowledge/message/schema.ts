// The one stored form of a message: an envelope with a `type`, and the data of that type below it. The descriptions
// are the text of docs/messages.md. Rules that a record may break and still be read are in validate.ts.
import { z } from "zod"

/** JSON as a type, and as a schema that does not walk or copy it: the output of a tool may be large. */
export type Json = null | string | number | boolean | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json | undefined }

export const Json = z.custom<Json>((value) => value !== undefined, "a JSON value is expected")
export const JsonObject = z
  .custom<JsonObject>(isObject, "an object is expected")
  .meta({ type: "object", additionalProperties: true })

export const Usage = z.object({
  input: z.number().describe("tokens of the request"),
  output: z.number().describe("tokens of the answer"),
  reasoning: z.number().optional().describe("tokens of the answer that were reasoning"),
  cacheRead: z.number().optional().describe("tokens of the request that came from the provider's cache"),
  cacheWrite: z.number().optional().describe("tokens of the request that went into the provider's cache"),
  cost: z.number().optional().describe("USD"),
  duration: z
    .number()
    .optional()
    .describe("milliseconds that the answer took, attempts that failed included"),
})

const ProviderMetadata = z
  .custom<Readonly<Record<string, JsonObject>>>(
    (value) => JsonObject.safeParse(value).success,
    "an object is expected",
  )
  .meta({ type: "object", additionalProperties: true })
  .optional()
  .describe("what the provider wants back unchanged, such as the signature of a thought")

export const Part = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string(), providerMetadata: ProviderMetadata }),
  z.object({ type: z.literal("reasoning"), text: z.string(), providerMetadata: ProviderMetadata }),
])

export const MessageRole = z.enum(["user", "assistant", "system"])

export const Call = z.object({
  id: z.string().describe("given by the model, unique in the message"),
  name: z.string().describe("the tool"),
  arguments: Json.default({}).describe("what the tool is called with"),
  invalid: z
    .string()
    .optional()
    .describe("the model's own text, when it was not JSON; such a call never runs"),
  approval: z.enum(["pending", "approved", "denied"]).default("pending"),
  providerMetadata: ProviderMetadata,
  snapshot: Json.optional().describe("the state of the files before the call changed them"),
})

const envelope = {
  id: z.string().describe("`msg_…`; sorts behind the id of the message that it follows"),
  sessionId: z.string(),
  parentId: z
    .string()
    .nullable()
    .default(null)
    .describe("the message that this one follows; null for the first"),
  branch: z.string().default("main").describe("the branch that it was written on"),
  time: z.number().default(0).describe("when it was made, in milliseconds since 1970"),
  schema: z.literal(1).describe("version of this form"),
  agent: z.string().optional().describe("the agent that wrote it or was asked"),
  model: z.string().optional().describe("`provider/model`"),
  usage: Usage.optional(),
  promptId: z
    .string()
    .optional()
    .describe("the stored prompt that begins with this message; the `202` that accepted it named it"),
}

/** Only people are shown them; a model gets the text alone. */
const Colors = z.array(z.tuple([z.int().min(0), z.string().regex(/^[\d;]{0,60}$/)])).optional()

const TextData = z.object({
  role: MessageRole,
  parts: z.array(Part).default([]).describe("text and reasoning, in the order they came"),
  finish: z
    .enum(["stop", "length", "tool-calls", "content-filter", "error", "interrupted", "cannot", "other"])
    .optional()
    .describe(
      "why the answer ended; an assistant message without it is still streaming. `cannot`: the offline model says what it did not do, and why",
    ),
  error: z.object({ name: z.string(), message: z.string() }).optional().describe("what ended the turn"),
  origin: z
    .object({
      kind: z.string(),
      name: z.string(),
      by: z
        .array(z.object({ guard: z.string(), reason: z.string() }))
        .optional()
        .describe("of a `guard`: each guard that held back the answer before, and why"),
      colors: Colors.describe("of a `shell`: the styles of the output, as in the result of a tool"),
    })
    .optional()
    .describe(
      "what a text of the system tells: a `rule`, a `skill`, a `plan`, a `guard`, a `hook`, and which one; `output`: the answer before did not fit the schema; `shell` and the command, if a person ran it",
    ),
})

const ImageData = z.object({
  source: z.object({
    kind: z.enum(["url", "base64", "file"]),
    value: z
      .string()
      .describe("the address, the path, or the bytes; where those are `stored`, only their sum"),
    mimeType: z.string().optional(),
  }),
  stored: z
    .object({ hash: z.string(), mimeType: z.string() })
    .optional()
    .describe("the bytes as they were attached, kept beside the session under their SHA-256"),
  mode: z
    .enum(["vision", "ocr", "auto"])
    .default("auto")
    .describe("how it is to be recognised; `auto` becomes `ocr` when a provider refuses the image"),
  usedMode: z.enum(["vision", "ocr"]).optional().describe("how it was recognised"),
  state: z.enum(["pending", "done", "failed"]).default("pending"),
  recognizedText: z.string().optional().describe("what OCR read"),
  visionAnalysis: z.string().optional().describe("what a model saw"),
  metadata: JsonObject.optional().describe(
    "size, confidence, language, the call of a tool that gave it; never sent to a model",
  ),
  error: z.string().optional(),
})

const FileReferenceData = z.object({
  path: z.string().describe("absolute, or from the folder of the session; normalised, without `..`"),
  startLine: z.number().optional().describe("first line, from 1"),
  endLine: z.number().optional().describe("last line, included"),
  status: z.enum(["pending", "resolved", "failed"]).default("pending"),
  content: z.string().optional().describe("what was read, each line with its number"),
  version: z
    .object({ file: z.string().describe("real path from the worktree"), id: z.string() })
    .optional()
    .describe("which version of the file that was"),
  error: z.string().optional(),
})

const ToolRequestData = z.object({ calls: z.array(Call) })

const ToolResultData = z.object({
  requestId: z.string().describe("the id of the call that it answers"),
  toolName: z.string().default(""),
  status: z.enum(["success", "error", "interrupted"]),
  output: Json.default(null).describe(
    "JSON where the tool gave structure and nothing else; a string for text",
  ),
  colors: Colors.describe(
    "from which character on the text of a command has which style, as SGR codes (`1;31`; empty for plain text); never sent to a model",
  ),
  error: z
    .object({
      message: z.string(),
      stack: z.string().optional(),
      recoverable: z.boolean().default(true).describe("whether trying differently could work"),
    })
    .optional(),
  duration: z
    .number()
    .default(0)
    .describe("milliseconds that the tool ran; waiting for permission is not counted"),
  timestamp: z.number().default(0).describe("when it ended, in milliseconds since 1970"),
  metadata: JsonObject.optional().describe(
    "`title`: the call in a few words; `data`: structure that the tool gave beside its text",
  ),
})

const SystemControlData = z.object({
  control: z.string().describe("`mode_change`, `branch_switch`, …"),
  parameters: JsonObject.default({}),
})

const McpResourceData = z.object({
  serverName: z.string(),
  resourceUri: z.string(),
  content: z.string().describe("text, or base64 where the type is binary"),
  mimeType: z.string().optional(),
  retrievedAt: z.number().default(0).describe("milliseconds since 1970"),
  error: z.string().optional().describe("why it could not be read; there is no content then"),
})

const UnknownData = z.object({ original: z.string().describe("the JSON text as it was found") })

export const Info = z.discriminatedUnion("type", [
  variant("text", TextData, "What a person, the model or the system says."),
  variant("image", ImageData, "An image, and what was recognised in it."),
  variant("file_reference", FileReferenceData, "A file that a person pointed at, or a range of its lines."),
  variant("tool_request", ToolRequestData, "The tool calls of one turn of the model."),
  variant("tool_result", ToolResultData, "What one tool call gave."),
  variant("system_control", SystemControlData, "A change of state in the history; never sent to a model."),
  variant("mcp_resource", McpResourceData, "A resource that an MCP server provided."),
  variant(
    "unknown",
    UnknownData,
    "A message of a type or version that this program does not know, kept untouched; never sent to a model.",
  ),
])

export type Usage = z.infer<typeof Usage>
export type Part = z.infer<typeof Part>
export type MessageRole = z.infer<typeof MessageRole>
export type Call = z.infer<typeof Call>
export type Info = z.infer<typeof Info>
export type Type = Info["type"]
/** The message of one type: `Of<"text">`. */
export type Of<T extends Type> = Extract<Info, { type: T }>
export type Problem = { path: string; message: string }
export type Check = { ok: true } | { ok: false; problems: Problem[] }

/** Tool names that every provider accepts. */
export const toolName = /^[\w-]{1,64}$/

export const types: ReadonlySet<string> = new Set<Type>(Info.options.map(({ shape }) => shape.type.value))

export function toCheck(problems: Problem[]): Check {
  return problems.length ? { ok: false, problems } : { ok: true }
}

/** Where a value does not fit the schema, and why. */
export function problemsOf(error: z.ZodError): Problem[] {
  return error.issues.map(({ path, message }) => ({ path: path.join("."), message }))
}

/** Makes the compiler refuse a `switch` that forgets a variant. */
export function assertNever(value: never): never {
  throw new TypeError(`Unhandled message ${JSON.stringify(value)}`)
}

function variant<T extends string, D extends z.ZodType>(type: T, data: D, description: string) {
  return z.object({ ...envelope, type: z.literal(type), data }).describe(description)
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
