// Proofs of the keys that choose a model and say how it is reached.
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { vitamin } from "../../../fixture/cli.ts"
import { text } from "../../../fixture/fake-llm.ts"
import { image } from "../../../fixture/images.ts"
import { writeTinyGguf } from "../../../fixture/tiny-gguf.ts"
import type { Proof, World } from "./proof.ts"

/** A configuration in which the scripted model answers, as the model `m` of the provider `mine`. */
export function reachable({ llm }: World, facts: object = {}, provider: object = {}) {
  return {
    model: "mine/m",
    provider: { mine: { baseURL: `${llm.url}/v1`, models: { m: facts }, ...provider } },
  }
}

const asked = ({ llm }: World) => llm.requests[0]?.body
const usage = { input: 1_000_000, output: 500_000, cacheRead: 400_000, cacheWrite: 200_000 }
const costOf: Pick<Extract<Proof, { seen: unknown }>, "model" | "commands" | "seen"> = {
  model: () => text("Fine.", { usage }),
  commands: [
    ["run", "hello"],
    ["session", "list", "--format", "json"],
  ],
  seen: (_, { out }) => JSON.parse(out)[0]?.usage.cost.toFixed(2),
}
const costs = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }
const priced = (world: World) => reachable(world, { api: "messages", cost: costs })
const all = "3.40"

/** The agent `odd` sets options of its requests. */
function writeOdd({ tmp }: World) {
  const folder = join(tmp.env.XDG_CONFIG_HOME!, "vitamin", "agents")
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, "odd.md"),
    "---\ntemperature: 0.5\nmetadata: { reasoning: high }\n---\nBe odd.\n",
  )
}
const asOdd = [["run", "--agent", "odd", "hello"]]

export const modelProofs: Record<string, Proof> = {
  model: { config: reachable, seen: (world) => asked(world)?.model, expected: "m" },
  "provider.default": {
    config: (world) => {
      const { provider } = reachable(world)
      return { provider: { default: "mine", other: { ...provider.mine, models: { m: {} } }, ...provider } }
    },
    other: "other",
    commands: [
      ["run", "--model", "m", "hello"],
      ["session", "list", "--format", "json"],
    ],
    seen: (_, { out }) => JSON.parse(out)[0]?.model,
    expected: "mine/m",
  },
  "provider.*.apiKey": {
    config: (world) => reachable(world, {}, { apiKey: "key-of-the-file" }),
    seen: ({ llm }) => llm.requests[0]?.headers.authorization,
    expected: "Bearer key-of-the-file",
  },
  "provider.*.baseURL": { config: reachable, seen: ({ llm }) => llm.requests.length, expected: 1 },
  "provider.*.headers": {
    config: (world) => reachable(world, {}, { headers: { "x-team": "blue" } }),
    seen: ({ llm }) => llm.requests[0]?.headers["x-team"],
    expected: "blue",
  },
  "provider.*.models.*.name": {
    config: (world) => reachable(world, { name: "My Model" }),
    commands: [["models", "mine", "--format", "json"]],
    seen: (_, { out }) => JSON.parse(out)[0]?.name,
    expected: "My Model",
  },
  "provider.*.models.*.context": {
    config: (world) => reachable(world, { context: 8_000 }),
    prepare: ({ tmp }) => void tmp.write("long.txt", "one two three four\n".repeat(5_000)),
    commands: [["run", "--file", "long.txt", "hello"]],
    seen: ({ llm }) => (llm.requests[0]?.raw.length ?? 0) > 40_000,
    expected: false,
  },
  "provider.*.models.*.output": {
    config: (world) => reachable(world, { output: 777 }),
    seen: (world) => asked(world)?.max_tokens ?? asked(world)?.max_completion_tokens,
    expected: 777,
  },
  "provider.*.models.*.cost.input": { config: priced, other: 9, ...costOf, expected: all },
  "provider.*.models.*.cost.output": { config: priced, other: 9, ...costOf, expected: all },
  "provider.*.models.*.cost.cacheRead": { config: priced, ...costOf, expected: all },
  "provider.*.models.*.cost.cacheWrite": { config: priced, ...costOf, expected: all },
  "provider.*.models.*.tools": {
    config: (world) => reachable(world, { tools: false }),
    seen: ({ llm }) => llm.requests[0]?.tools.length,
    expected: 0,
  },
  "provider.*.models.*.reasoning": {
    config: (world) => reachable(world, { reasoning: true }),
    prepare: writeOdd,
    commands: asOdd,
    seen: (world) => asked(world)?.reasoning_effort,
    expected: "high",
  },
  "provider.*.models.*.temperature": {
    config: (world) => reachable(world, { temperature: false }),
    prepare: writeOdd,
    commands: asOdd,
    seen: (world) => [asked(world)?.model, asked(world)?.temperature],
    expected: ["m", undefined],
  },
  "provider.*.models.*.input": {
    config: (world) => reachable(world, { input: ["text", "image"] }),
    prepare: ({ tmp }) => void tmp.write("note.png", image("note.png")),
    commands: [["run", "--image", "note.png", "--image-mode", "vision", "what is it?"]],
    seen: ({ llm }) => /data:image\/png;base64/.test(llm.requests[0]?.raw ?? ""),
    expected: true,
  },
  "provider.*.models.*.api": {
    config: (world) => reachable(world, { api: "messages" }),
    seen: ({ llm }) => llm.requests[0]?.path,
    expected: "/v1/messages",
  },
  "provider.*.models.*.gpu": {
    config: () => ({ model: "local/tiny", provider: { local: { models: { tiny: { gpu: "auto" } } } } }),
    prepare: async (world) => {
      // A fake library that records its arguments.
      const folder = join(world.tmp.env.XDG_DATA_HOME!, "vitamin/llama/node_modules/node-llama-cpp")
      mkdirSync(join(folder, "dist"), { recursive: true })
      const main = { name: "node-llama-cpp", version: "3.0.0", type: "module", main: "dist/index.js" }
      writeFileSync(join(folder, "package.json"), JSON.stringify(main))
      const said = 'export const getLlama = ({ gpu }) => { throw new Error("the GPU is " + gpu) }\n'
      writeFileSync(join(folder, "dist/index.js"), said)
      writeTinyGguf(world.outside("tiny.gguf"))
      await vitamin(world.tmp, ["models", "add", "../tiny.gguf", "--name", "tiny"])
    },
    seen: (_, { err }) => /the GPU is (\w+)/.exec(err)?.[1],
    expected: "auto",
  },
  "embedder.model": {
    config: ({ web }) => ({
      embedder: { model: "mine/e" },
      provider: { mine: { baseURL: `${web.url}/v1` } },
    }),
    commands: [["tool", "search", "read a file"]],
    seen: ({ web }) => web.requests[0]?.path,
    expected: "/v1/embeddings",
  },
  "embedder.gguf": {
    config: () => ({ embedder: { gguf: "not-there.gguf" } }),
    commands: [["tool", "search", "read a file"]],
    seen: (_, { err }) => /embedder cannot be used.*not-there\.gguf/s.test(err),
    expected: true,
  },
}
