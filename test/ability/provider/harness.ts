// Runs a test in an instance with its own environment, and collects the parts of a model's stream.
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import * as Provider from "#ability/provider/provider.ts"
import { Instance } from "#kernel/instance.ts"
import { env, type FakeLlm, type Wire } from "../../fixture/fake-llm.ts"
import { tmpdir } from "../../fixture/tmpdir.ts"

type Setting = { variables?: Record<string, string>; config?: object }

/** Run in a new instance that sees these variables and this configuration, and none of the person's own. */
export async function inInstance<T>(
  { variables = {}, config }: Setting,
  fn: (path: string) => T | Promise<T>,
): Promise<T> {
  await using tmp = await tmpdir()
  const own = { ...variables, ...(config ? { VITAMIN_CONFIG: JSON.stringify(config) } : {}) }
  const foreign = Object.keys(process.env).filter((name) =>
    /_(KEY|TOKEN|BASE_URL)$|^VITAMIN_|_PROXY$|^OLLAMA_HOST$/i.test(name),
  )
  const before = Object.fromEntries(
    [...foreign, ...Object.keys(own)].map((name) => [name, process.env[name]]),
  )
  for (const name of foreign) delete process.env[name]
  Object.assign(process.env, own)
  try {
    return await Instance.provide({ directory: tmp.path, fn: () => fn(tmp.path) })
  } finally {
    await Instance.disposeAll()
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
  }
}

/** The model of vitamin that talks to the loopback model in one wire form. */
export function withModel<T>(
  llm: FakeLlm,
  wire: Wire,
  fn: (model: LanguageModelV4, names: { providerId: string; modelId: string }) => Promise<T>,
): Promise<T> {
  const { variables, model } = env(llm, wire)
  const [providerId, modelId] = model.split("/") as [string, string]
  return inInstance({ variables }, async () =>
    fn(await Provider.getModel(providerId, modelId), { providerId, modelId }),
  )
}

export const hello: LanguageModelV4CallOptions = {
  prompt: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
}

export async function partsOf(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions = hello,
): Promise<LanguageModelV4StreamPart[]> {
  const { stream } = await model.doStream(options)
  const parts: LanguageModelV4StreamPart[] = []
  for await (const part of stream as unknown as AsyncIterable<LanguageModelV4StreamPart>) parts.push(part)
  return parts
}

type Kind = "text-delta" | "reasoning-delta"

export function textOf(parts: LanguageModelV4StreamPart[], kind: Kind = "text-delta"): string {
  return parts.flatMap((part) => (part.type === kind ? [part.delta] : [])).join("")
}

export function only<T extends LanguageModelV4StreamPart["type"]>(
  parts: LanguageModelV4StreamPart[],
  type: T,
): Extract<LanguageModelV4StreamPart, { type: T }>[] {
  return parts.filter((part): part is Extract<LanguageModelV4StreamPart, { type: T }> => part.type === type)
}
