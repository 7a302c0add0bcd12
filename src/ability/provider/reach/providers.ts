// The table of providers: API, base URL, environment variables, and deviations. A base URL may contain variables. A
// provider without one needs a gateway, whose URL the configuration sets.

/** The API of a provider: OpenAI chat completions, OpenAI responses, Anthropic messages, Gemini generateContent, or Bedrock's
 * Converse. Rules and GGUF files run in this program, without one. */
export type Wire = "chat" | "responses" | "messages" | "gemini" | "converse" | "rules" | "gguf"

/** Clouds whose account signs the requests. */
export type Account = "aws" | "google" | "azure"

export type Quirks = {
  /** How a chat request expresses the reasoning level. Default: `reasoning_effort` low, medium or high. */
  effort?: "openai" | "openrouter" | "thinking" | "enable" | "none"
  /** Send earlier reasoning back. This is off by default, because many servers refuse the field. */
  echoReasoning?: boolean
  /** Requires tool-call ids of exactly nine letters and digits, and no user message right after a tool message. */
  mistral?: boolean
  /** The header for the key. Default: `Authorization: Bearer`. */
  keyHeader?: string
}

export type Entry = Quirks & {
  name: string
  /** Default: chat. */
  wire?: Wire
  /** `{NAME}` in it stands for a variable, `{NAME|OTHER}` for the first one that is set. */
  baseURL?: string
  /** Variables with the key; the first one that is set counts. */
  env: string[]
  /** Variable that replaces the base URL. Default: the variable of the key, with `BASE_URL` as its ending. */
  baseEnv?: string
  /** Where a person signs in with a browser, for a key: the page, and below the base URL the address that gives out the key
   * (OAuth with PKCE). */
  signIn?: { page: string; keys: string }
  /** Without a key, the account of a cloud signs the requests, by a package that is not installed with the program. */
  account?: Account
}

const place = "{GOOGLE_VERTEX_LOCATION|GOOGLE_CLOUD_LOCATION}"
const vertex = `https://${place}-aiplatform.googleapis.com/v1/projects/{GOOGLE_VERTEX_PROJECT|GOOGLE_CLOUD_PROJECT}/locations/${place}`

export const providers: Record<string, Entry> = {
  anthropic: {
    name: "Anthropic",
    wire: "messages",
    baseURL: "https://api.anthropic.com/v1",
    env: ["ANTHROPIC_API_KEY"],
  },
  openai: {
    name: "OpenAI",
    wire: "responses",
    baseURL: "https://api.openai.com/v1",
    env: ["OPENAI_API_KEY"],
    effort: "openai",
  },
  google: {
    name: "Google",
    wire: "gemini",
    baseURL: "https://generativelanguage.googleapis.com/v1beta",
    env: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    baseEnv: "GOOGLE_GEMINI_BASE_URL",
  },
  minimax: {
    name: "MiniMax",
    wire: "messages",
    baseURL: "https://api.minimax.io/anthropic/v1",
    env: ["MINIMAX_API_KEY"],
  },
  azure: {
    name: "Azure",
    baseURL: "https://{AZURE_RESOURCE_NAME}.openai.azure.com/openai/v1",
    env: ["AZURE_API_KEY"],
    keyHeader: "api-key",
    effort: "openai",
    account: "azure",
  },
  mistral: {
    name: "Mistral",
    baseURL: "https://api.mistral.ai/v1",
    env: ["MISTRAL_API_KEY"],
    mistral: true,
    effort: "none",
  },
  cohere: {
    name: "Cohere",
    baseURL: "https://api.cohere.ai/compatibility/v1",
    env: ["COHERE_API_KEY"],
    effort: "none",
  },
  groq: { name: "Groq", baseURL: "https://api.groq.com/openai/v1", env: ["GROQ_API_KEY"] },
  xai: { name: "xAI", baseURL: "https://api.x.ai/v1", env: ["XAI_API_KEY"], effort: "none" },
  deepseek: {
    name: "DeepSeek",
    baseURL: "https://api.deepseek.com",
    env: ["DEEPSEEK_API_KEY"],
    effort: "thinking",
    echoReasoning: true,
  },
  togetherai: { name: "Together AI", baseURL: "https://api.together.xyz/v1", env: ["TOGETHER_API_KEY"] },
  "fireworks-ai": {
    name: "Fireworks AI",
    baseURL: "https://api.fireworks.ai/inference/v1",
    env: ["FIREWORKS_API_KEY"],
  },
  cerebras: { name: "Cerebras", baseURL: "https://api.cerebras.ai/v1", env: ["CEREBRAS_API_KEY"] },
  perplexity: { name: "Perplexity", baseURL: "https://api.perplexity.ai", env: ["PERPLEXITY_API_KEY"] },
  deepinfra: {
    name: "Deep Infra",
    baseURL: "https://api.deepinfra.com/v1/openai",
    env: ["DEEPINFRA_API_KEY"],
  },
  openrouter: {
    name: "OpenRouter",
    baseURL: "https://openrouter.ai/api/v1",
    env: ["OPENROUTER_API_KEY"],
    effort: "openrouter",
    signIn: { page: "/auth", keys: "/auth/keys" },
  },
  "github-models": {
    name: "GitHub Models",
    baseURL: "https://models.github.ai/inference",
    env: ["GITHUB_TOKEN"],
  },
  "github-copilot": {
    name: "GitHub Copilot",
    baseURL: "https://api.githubcopilot.com",
    env: ["GITHUB_TOKEN"],
  },
  vercel: {
    name: "Vercel AI Gateway",
    baseURL: "https://ai-gateway.vercel.sh/v1",
    env: ["AI_GATEWAY_API_KEY"],
  },
  alibaba: {
    name: "Alibaba",
    baseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    env: ["DASHSCOPE_API_KEY"],
    effort: "enable",
  },
  moonshotai: {
    name: "Moonshot AI",
    baseURL: "https://api.moonshot.ai/v1",
    env: ["MOONSHOT_API_KEY"],
    effort: "thinking",
    echoReasoning: true,
  },
  zai: {
    name: "Z.AI",
    baseURL: "https://api.z.ai/api/paas/v4",
    env: ["ZHIPU_API_KEY"],
    effort: "thinking",
    echoReasoning: true,
  },
  nvidia: { name: "Nvidia", baseURL: "https://integrate.api.nvidia.com/v1", env: ["NVIDIA_API_KEY"] },
  huggingface: { name: "Hugging Face", baseURL: "https://router.huggingface.co/v1", env: ["HF_TOKEN"] },
  baseten: { name: "Baseten", baseURL: "https://inference.baseten.co/v1", env: ["BASETEN_API_KEY"] },
  "ollama-cloud": { name: "Ollama Cloud", baseURL: "https://ollama.com/v1", env: ["OLLAMA_API_KEY"] },
  lmstudio: { name: "LM Studio", baseURL: "http://127.0.0.1:1234/v1", env: ["LMSTUDIO_API_KEY"] },
  ollama: {
    name: "Ollama",
    baseURL: "http://127.0.0.1:11434/v1",
    baseEnv: "OLLAMA_BASE_URL",
    env: [],
  },
  llamacpp: {
    name: "llama.cpp",
    baseURL: "http://127.0.0.1:8080/v1",
    baseEnv: "LLAMA_CPP_BASE_URL",
    env: [],
  },
  vllm: { name: "vLLM", baseURL: "http://127.0.0.1:8000/v1", env: ["VLLM_API_KEY"] },
  local: { name: "Built in", wire: "rules", env: [] },
  llama: { name: "Llama", baseURL: "https://api.llama.com/compat/v1", env: ["LLAMA_API_KEY"] },
  opencode: { name: "OpenCode Zen", baseURL: "https://opencode.ai/zen/v1", env: ["OPENCODE_API_KEY"] },
  "cloudflare-workers-ai": {
    name: "Cloudflare Workers AI",
    baseURL: "https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1",
    env: ["CLOUDFLARE_API_KEY"],
  },
  v0: { name: "v0", baseURL: "https://api.v0.dev/v1", env: ["V0_API_KEY"] },
  morph: { name: "Morph", baseURL: "https://api.morphllm.com/v1", env: ["MORPH_API_KEY"] },
  inception: { name: "Inception", baseURL: "https://api.inceptionlabs.ai/v1", env: ["INCEPTION_API_KEY"] },
  upstage: { name: "Upstage", baseURL: "https://api.upstage.ai/v1/solar", env: ["UPSTAGE_API_KEY"] },
  nebius: {
    name: "Nebius Token Factory",
    baseURL: "https://api.tokenfactory.nebius.com/v1",
    env: ["NEBIUS_API_KEY"],
  },
  scaleway: { name: "Scaleway", baseURL: "https://api.scaleway.ai/v1", env: ["SCALEWAY_API_KEY"] },
  "novita-ai": { name: "NovitaAI", baseURL: "https://api.novita.ai/openai", env: ["NOVITA_API_KEY"] },
  venice: { name: "Venice AI", baseURL: "https://api.venice.ai/api/v1", env: ["VENICE_API_KEY"] },
  siliconflow: {
    name: "SiliconFlow",
    baseURL: "https://api.siliconflow.com/v1",
    env: ["SILICONFLOW_API_KEY"],
    effort: "enable",
  },
  "amazon-bedrock": {
    name: "Amazon Bedrock",
    wire: "converse",
    baseURL: "https://bedrock-runtime.{AWS_REGION|AWS_DEFAULT_REGION}.amazonaws.com",
    baseEnv: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    env: ["AWS_BEARER_TOKEN_BEDROCK"],
    account: "aws",
  },
  "google-vertex": {
    name: "Vertex",
    wire: "gemini",
    baseURL: `${vertex}/publishers/google`,
    baseEnv: "GOOGLE_VERTEX_BASE_URL",
    env: [],
    account: "google",
  },
  "google-vertex-anthropic": {
    name: "Vertex (Anthropic)",
    wire: "messages",
    baseURL: `${vertex}/publishers/anthropic/models`,
    baseEnv: "GOOGLE_VERTEX_ANTHROPIC_BASE_URL",
    env: [],
    account: "google",
  },
}
