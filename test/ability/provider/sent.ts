// The request body that is sent to a model after Provider.transform(), with a provider on loopback.
import type { LanguageModelV4Prompt } from "@ai-sdk/provider"
import * as Provider from "#ability/provider/provider.ts"
import { fakeLlm, type Request, text } from "../../fixture/fake-llm.ts"
import { inInstance, partsOf } from "./harness.ts"

export type Body = Record<string, unknown>
export type Wanted = Omit<Provider.Request, "providerId" | "modelId" | "prompt"> & {
  prompt?: LanguageModelV4Prompt
}

export const prompt: LanguageModelV4Prompt = [
  { role: "system", content: "Be kind." },
  { role: "user", content: [{ type: "text", text: "Hello" }] },
]

/** The request that a model of this name gets, its provider living on loopback. */
export async function sent(name: string, wanted: Wanted = {}, api?: Provider.Wire): Promise<Request> {
  await using llm = await fakeLlm([text("ok")])
  const [providerId = "", ...rest] = name.split("/")
  const modelId = rest.join("/")
  const settings = { baseURL: llm.url, ...(api ? { models: { [modelId]: { api } } } : {}) }
  await inInstance({ config: { provider: { [providerId]: settings } } }, async () => {
    const model = await Provider.getModel(providerId, modelId)
    await partsOf(model, Provider.transform({ providerId, modelId, prompt, ...wanted }))
  })
  return llm.requests[0]!
}

export function tool(inputSchema: object): Provider.ToolDescription {
  return { type: "function", name: "probe", description: "Probe.", inputSchema }
}

export const simple = tool({ type: "object", properties: { path: { type: "string" } }, required: ["path"] })

/** A call and its result, with an id that other providers gave. */
export function withCall(id: string): LanguageModelV4Prompt {
  return [
    ...prompt,
    {
      role: "assistant",
      content: [{ type: "tool-call", toolCallId: id, toolName: "probe", input: { path: "a" } }],
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: id, toolName: "probe", output: { type: "text", value: "A" } },
      ],
    },
  ]
}

export const count = (body: unknown, word: string) => JSON.stringify(body).split(word).length - 1
