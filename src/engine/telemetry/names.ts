// The names of the OpenTelemetry conventions for generative AI, as far as they are used here.
import type { Histogram } from "./create-metrics.ts"

const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const tokens = Array.from({ length: 14 }, (_, i) => 4 ** i)

export const histograms = {
  tokens: {
    name: "gen_ai.client.token.usage",
    unit: "{token}",
    description: "Number of input and output tokens used.",
    bounds: tokens,
  },
  request: duration("gen_ai.client.operation.duration", "Duration of a request to a model."),
  firstChunk: duration(
    "gen_ai.client.operation.time_to_first_chunk",
    "Time from a request to the first part of its answer.",
  ),
  agent: duration("gen_ai.invoke_agent.duration", "Duration of a prompt."),
  tool: duration("gen_ai.execute_tool.duration", "Duration of a tool call."),
}

export const dropped = {
  name: "vitamin.telemetry.dropped",
  unit: "{record}",
  description: "Records of telemetry that were dropped.",
}

/** Providers whose id here is not their name in the conventions. */
const providerNames: Record<string, string> = {
  google: "gcp.gemini",
  "google-vertex": "gcp.vertex_ai",
  "google-vertex-anthropic": "gcp.vertex_ai",
  "amazon-bedrock": "aws.bedrock",
  azure: "azure.ai.openai",
  mistral: "mistral_ai",
  xai: "x_ai",
  moonshotai: "moonshot_ai",
}

export function providerName(id: string): string {
  return Object.hasOwn(providerNames, id) ? providerNames[id]! : id
}

function duration(name: string, description: string): Histogram {
  return { name, unit: "s", description, bounds: seconds }
}
