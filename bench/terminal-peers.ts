// The programs whose terminals are measured: ours, and peers that are installed below PEERS_DIR, each in a folder with its
// id and its own node_modules. A peer that is not there is left out.
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

export type Program = {
  name: string
  args: readonly string[]
  env: Record<string, string>
  /** Shown when keys are taken. */
  prompt: string
}

const command = new URL("../dist/vitamin.js", import.meta.url).pathname

export function ours(base: string): Program {
  const models = { m: { context: 1_000_000_000, output: 1_000 } }
  return {
    name: "vitamin",
    args: [process.execPath, command],
    prompt: "> ",
    env: {
      OPENAI_BASE_URL: base,
      OPENAI_API_KEY: "x",
      VITAMIN_MODEL: "openai/m",
      // The whole session fits into a request: nothing is compacted.
      VITAMIN_CONFIG: JSON.stringify({ provider: { openai: { models } } }),
    },
  }
}

export function peers(base: string, home: string): Program[] {
  const folder = process.env.PEERS_DIR
  if (!folder) return []
  const bin = (id: string) => join(folder, id, "node_modules/.bin", id)
  return [pi(bin("pi"), base, home), opencode(bin("opencode"), base, home)].filter(({ args }) =>
    existsSync(args.at(0) === process.execPath ? args[1]! : args[0]!),
  )
}

function pi(bin: string, base: string, home: string): Program {
  const model = {
    id: "m",
    name: "m",
    reasoning: false,
    input: ["text"],
    contextWindow: 1_000_000_000,
    maxTokens: 8_000,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  }
  put(join(home, ".pi/agent/models.json"), {
    providers: { fake: { baseUrl: base, api: "openai-completions", apiKey: "x", models: [model] } },
  })
  const env = { PI_OFFLINE: "1", PI_TELEMETRY: "0", PI_SKIP_VERSION_CHECK: "1" }
  return {
    name: "pi",
    args: [process.execPath, bin, "--provider", "fake", "--model", "m"],
    env,
    prompt: "(auto)",
  }
}

function opencode(bin: string, base: string, home: string): Program {
  const limit = { context: 1_000_000_000, output: 8_000 }
  const options = { baseURL: base, apiKey: "x" }
  const fake = {
    npm: "@ai-sdk/openai-compatible",
    name: "fake",
    options,
    models: { m: { name: "m", limit } },
  }
  const file = join(home, "opencode.json")
  put(file, {
    autoupdate: false,
    share: "disabled",
    model: "fake/m",
    small_model: "fake/m",
    permission: { "*": "allow" },
    provider: { fake },
  })
  const env = {
    OPENCODE_CONFIG: file,
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  }
  return { name: "opencode", args: [bin], env, prompt: "Ask anything" }
}

function put(file: string, data: unknown): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify(data))
}
