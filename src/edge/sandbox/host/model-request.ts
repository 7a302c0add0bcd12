// What a guest may send to a model: messages, functions and settings. Headers (but the id of its span), tools that a provider runs, fields of the
// provider's own and addresses that it would fetch are not the guest's to choose.
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider"
import { z } from "zod"
import { decodeBytes } from "#edge/sandbox/wire/bytes.ts"
import { Refused } from "./refused.ts"

const Output = z.looseObject({ type: z.string(), value: z.unknown().optional() })
const Part = z.looseObject({ type: z.string(), data: z.unknown().optional(), output: Output.optional() })
const Options = z.object({
  prompt: z.array(z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(Part)]) })),
  tools: z.array(z.looseObject({ type: z.literal("function"), name: z.string() })).optional(),
  toolChoice: z.looseObject({ type: z.string() }).optional(),
  maxOutputTokens: z.number().optional(),
  temperature: z.number().optional(),
  topP: z.number().optional(),
  topK: z.number().optional(),
  stopSequences: z.array(z.string()).optional(),
  seed: z.number().optional(),
  reasoning: z.string().optional(),
  responseFormat: z.looseObject({ type: z.string() }).optional(),
  providerOptions: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  headers: z
    .object({
      traceparent: z
        .string()
        .regex(/^00-[\da-f]{32}-[\da-f]{16}-0[01]$/)
        .optional(),
    })
    .optional(),
})

/** The provider's fields that a turn sets. Our chat client writes such fields into the request as they are, so another one
 * could name another model. */
const fields = new Set([
  ...["reasoning_effort", "reasoning", "thinking", "enable_thinking"],
  ...["store", "reasoningSummary", "promptCacheKey", "thinkingConfig", "strictJsonSchema"],
])
/** An address or the name of a stored file would be fetched by the provider: a way around the network rules. */
const inline = ["data", "text"]

export function modelRequest(given: unknown): LanguageModelV4CallOptions {
  const options = Options.parse(given)
  for (const { content } of options.prompt) if (typeof content !== "string") content.forEach(refuseRemote)
  const { providerOptions = {} } = options
  for (const own of Object.values(providerOptions))
    for (const name of Object.keys(own)) if (!fields.has(name)) Reflect.deleteProperty(own, name)
  return decodeBytes(options) as LanguageModelV4CallOptions
}

function refuseRemote({ type, data, output }: z.infer<typeof Part>): void {
  const kind = typeof data === "object" && data !== null && "type" in data ? data.type : undefined
  if ((type.includes("file") || data !== undefined) && !inline.includes(String(kind)))
    throw new Refused("files that the provider of a model fetches")
  if (output?.type === "content") z.array(Part).parse(output.value).forEach(refuseRemote)
}
