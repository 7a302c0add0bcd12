// The settings of telemetry: the standard `OTEL_*` variables, then the configuration. A value that cannot be used is
// reported and replaced by its default; a protocol that we do not speak turns its signal off.
import type * as Config from "#kernel/config/config.ts"
import * as Env from "#kernel/process/env.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { version } from "#util/version.ts"
import { createSampler, type Sampler } from "./sampler.ts"

export const signals = ["traces", "metrics", "logs"] as const
export type Signal = (typeof signals)[number]

/** Where records of a signal go. Times are in milliseconds. */
export type Target = { url: string; headers: Record<string, string>; timeout: number; gzip: boolean }
/** How many records wait, how many are sent together, and how long the first one waits. */
export type Limits = { most: number; batch: number; delay: number }

export type Settings = {
  targets: Partial<Record<Signal, Target>>
  limits: Record<"traces" | "logs", Limits>
  /** Between two exports of the metrics. */
  interval: number
  isDelta: boolean
  sampler: Sampler
  resource: Record<string, string>
  /** Also send prompts, answers, arguments and results. */
  contents: boolean
  /** The most characters of a text. */
  longest: number
  /** What could not be used, for the person. */
  problems: string[]
}

type Given = NonNullable<Config.Info["telemetry"]>

const usualTimeout = 10_000
const usualLength = 16_384

/** Without targets nothing is exported; `problems` may say why. */
export function readSettings(given: Given | undefined): Settings {
  const problems: string[] = []
  const read = createReader(problems)
  const isOff = given?.enabled === false || /^true$/i.test(Env.get("OTEL_SDK_DISABLED")?.trim() ?? "")
  const targets: Settings["targets"] = {}
  for (const signal of signals) {
    const target = isOff ? undefined : targetOf(signal, given, read)
    if (target) targets[signal] = target
  }
  return {
    targets,
    limits: { traces: limitsOf("BSP", 5_000, read), logs: limitsOf("BLRP", 1_000, read) },
    interval: read.number("OTEL_METRIC_EXPORT_INTERVAL", 60_000),
    isDelta: /^delta$/i.test(read.text("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE") ?? ""),
    sampler: createSampler(read.text("OTEL_TRACES_SAMPLER"), read.text("OTEL_TRACES_SAMPLER_ARG"), problems),
    resource: resourceOf(read),
    contents: contentsOf(given, read),
    longest: read.number(
      "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
      read.number("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", usualLength),
    ),
    problems,
  }
}

type Reader = ReturnType<typeof createReader>

function createReader(problems: string[]) {
  const text = (name: string) => Env.get(name)?.trim() || undefined
  return {
    text,
    number(name: string, usual: number): number {
      const said = text(name)
      const value = Number(said)
      if (said === undefined || (Number.isSafeInteger(value) && value > 0)) return said ? value : usual
      problems.push(`${name} is ${JSON.stringify(said)}, and a positive number is expected: ${usual} is used`)
      return usual
    },
    pairs(name: string): Record<string, string> {
      const found: Record<string, string> = {}
      for (const pair of (text(name) ?? "").split(",").filter((one) => one.trim())) {
        const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(pair) ?? []
        const decoded = value === undefined ? undefined : decode(value)
        if (key === undefined || decoded === undefined)
          problems.push(`${name} has an entry that is not key=value; it is ignored`)
        else found[key] = decoded
      }
      return found
    },
    problem: (said: string) => void problems.push(said),
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** A variable of one signal comes before the general one, and both before the configuration. */
function targetOf(signal: Signal, given: Given | undefined, read: Reader): Target | undefined {
  const upper = signal.toUpperCase()
  const own = (name: string) => `OTEL_EXPORTER_OTLP_${upper}_${name}`
  const either = (name: string) => read.text(own(name)) ?? read.text(`OTEL_EXPORTER_OTLP_${name}`)
  const exporter = read.text(`OTEL_${upper}_EXPORTER`)?.toLowerCase()
  if (exporter === "none") return undefined
  if (exporter !== undefined && exporter !== "otlp")
    return read.problem(`${signal} are not exported: OTEL_${upper}_EXPORTER is not otlp or none`) as undefined
  const base = read.text("OTEL_EXPORTER_OTLP_ENDPOINT") ?? given?.endpoint
  const address = read.text(own("ENDPOINT")) ?? (base && `${base.replace(/\/+$/, "")}/v1/${signal}`)
  if (!address) return undefined
  const protocol = either("PROTOCOL")
  if (protocol !== undefined && protocol !== "http/json")
    return read.problem(
      `${signal} are not exported: the protocol ${JSON.stringify(protocol)} is not supported. Set OTEL_EXPORTER_OTLP_PROTOCOL=http/json`,
    ) as undefined
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    return read.problem(
      `${signal} are not exported: the endpoint is not an http or https URL without a user name`,
    ) as undefined
  const timeout = read.number(own("TIMEOUT"), read.number("OTEL_EXPORTER_OTLP_TIMEOUT", usualTimeout))
  const limit = { traces: "BSP_EXPORT", metrics: "METRIC_EXPORT", logs: "BLRP_EXPORT" }[signal]
  return {
    url: url.href,
    headers: headersFor(own("HEADERS"), given, read),
    timeout: Math.min(timeout, read.number(`OTEL_${limit}_TIMEOUT`, 30_000)),
    gzip: either("COMPRESSION")?.toLowerCase() === "gzip",
  }
}

/** Their values may be keys, so they are redacted everywhere. */
function headersFor(own: string, given: Given | undefined, read: Reader): Record<string, string> {
  const fromEnvironment = { ...read.pairs("OTEL_EXPORTER_OTLP_HEADERS"), ...read.pairs(own) }
  for (const value of Object.values(fromEnvironment)) {
    Secret.register(value, "telemetry header")
    Secret.register(/^\S+ (.+)$/.exec(value)?.[1], "telemetry header")
  }
  const all = Object.entries({ ...given?.headers, ...fromEnvironment })
  return Object.fromEntries(
    all.flatMap(([name, value]) => {
      if (/^[!#$%&'*+.^`|~\w-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value))
        return [[name.toLowerCase(), value]]
      read.problem("a telemetry header is ignored: its name or value has characters that headers cannot have")
      return []
    }),
  )
}

function limitsOf(prefix: string, usualDelay: number, read: Reader): Limits {
  const most = read.number(`OTEL_${prefix}_MAX_QUEUE_SIZE`, 2_048)
  const batch = read.number(`OTEL_${prefix}_MAX_EXPORT_BATCH_SIZE`, 512)
  const delay = read.number(`OTEL_${prefix}_SCHEDULE_DELAY`, usualDelay)
  return { most, batch: Math.min(batch, most), delay }
}

function contentsOf(given: Given | undefined, read: Reader): boolean {
  const said = read.text("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT")?.toLowerCase()
  if (said === undefined) return given?.contents === true
  return said !== "false" && said !== "no_content"
}

/** The folder of the project is not among them. */
function resourceOf(read: Reader): Record<string, string> {
  const given = read.pairs("OTEL_RESOURCE_ATTRIBUTES")
  const name = read.text("OTEL_SERVICE_NAME")
  return {
    "service.name": "vitamin",
    "service.version": version,
    "service.instance.id": crypto.randomUUID(),
    "telemetry.sdk.name": "vitamin",
    "telemetry.sdk.language": "nodejs",
    "telemetry.sdk.version": version,
    ...given,
    ...(name ? { "service.name": name } : {}),
  }
}
