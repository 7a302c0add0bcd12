// Vitamin as an MCP server, for one connection or one request: the tools that the rules allow, and `run`. The SDK handles
// both revisions of the protocol. Permissions are asked through the client if it supports elicitation.
import { createHash } from "node:crypto"
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  type ListToolsResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server"
import { z } from "zod"
import type { AgentDefinition } from "#ability/agent/agent.ts"
import { judgeStep } from "#ability/call/judge-step.ts"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as Permission from "#ability/permission/permission.ts"
import { stepOf } from "#ability/tool/run-tool.ts"
import type { Definition, Json } from "#ability/tool/tool.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { chooseAgent } from "#engine/record/session-record.ts"
import { createRights } from "#engine/rights/rights.ts"
import * as Config from "#kernel/config/config.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorText } from "#util/error.ts"
import { plainText } from "#util/plain-text.ts"
import { version } from "#util/version.ts"
import { callTool, type ToolCall } from "./call-tool.ts"
import type { Consents } from "./consents.ts"
import { offeredTools, offersRun } from "./offered-tools.ts"
import * as RunPrompt from "./run-prompt.ts"
import { errorResult, toCallResult } from "./to-call-result.ts"
import * as ToolCalls from "./tool-calls.ts"

export type Options = {
  /** Rules from the command line, for as long as the server runs. */
  rules: readonly Permission.Rule[]
  yes: boolean
  /** Offer the tools of other MCP servers too. */
  servers: boolean
}
/** Runs a function in the instance of the served folder. */
type Inside = <T>(fn: () => T) => T
type Given = {
  options: Options
  inside: Inside
  /** Shared by all connections and requests: a client may answer a question in another request. */
  consents: Consents
}
/** `isSandboxed`: the agent works in a sandbox, and only `run` reaches it. Tools would run outside. */
type Offer = { agent: AgentDefinition; tools: Definition[]; run: boolean; isSandboxed: boolean }

const maxPreview = 2_000
const maxText = 500

const instructions =
  "Tools that work in one folder under the rules of its owner. `run` gives a whole task to an agent there."
const Consent = z.object({ allow: z.boolean().describe("allow it this once") })

export function createMcpServer({ options, inside, consents }: Given): Server {
  const server = new Server(
    { name: "vitamin", version },
    { capabilities: { tools: {} }, instructions, requestState: { verify: consents.verify } },
  )
  server.onerror = (error) => Log.debug("an MCP client was answered with an error", { error })
  const canAsk = (context: ServerContext) => !options.yes && supportsForms(server, context)
  const answer = <T>(fn: () => Promise<T>) => inside(() => fn().catch(rethrow))
  server.setRequestHandler("tools/list", (_, context) =>
    answer(async () => listTools(await offer(options, canAsk(context), context.mcpReq.signal))),
  )
  server.setRequestHandler("tools/call", (request, context) =>
    answer(async () => {
      const { name, arguments: args = {} } = request.params
      const offered = await offer(options, canAsk(context), context.mcpReq.signal)
      const report = createReport(context)
      if (name === "run" && offered.run) return runPrompt({ args, options, context, report })
      const tool = offered.tools.find(({ id }) => id === name)
      if (!tool) throw await unavailable(name, { offered, options, context })
      const { agent } = offered
      const { rules, yes } = options
      const call = { agent, rules, yes, tool, args: args as Json, signal: context.mcpReq.signal, report }
      if (canAsk(context)) return askThenCall(call, { context, consents })
      return toCallResult(tool, await callTool(call))
    }),
  )
  return server
}

/** The SDK sends errors unchanged, so secrets are redacted here. */
function rethrow(error: unknown): never {
  if (error instanceof ProtocolError) throw error
  throw new ProtocolError(ProtocolErrorCode.InternalError, Secret.redact(errorText(error)))
}

async function offer({ rules, yes, servers }: Options, canAsk: boolean, signal: AbortSignal): Promise<Offer> {
  const agent = await chooseAgent()
  const run = await offersRun({ agent, rules })
  if ((await Config.get()).adapters?.sandbox?.enabled) return { agent, tools: [], run, isSandboxed: true }
  if (servers) await (await ifConfigured())?.prepare(signal)
  const tools = await offeredTools({ agent, rules, canAsk: canAsk || yes })
  return { agent, tools, run, isSandboxed: false }
}

function listTools({ tools, run }: Offer): ListToolsResult {
  const listed = tools.map((tool) => ({
    name: tool.id,
    description: tool.description,
    inputSchema: { type: "object" as const, ...withoutHeaders(ToolRegistry.schemaOf(tool)) },
    ...(tool.readOnly ? { annotations: { readOnlyHint: true } } : {}),
  }))
  const own = RunPrompt.description as ListToolsResult["tools"][number]
  return { tools: [...listed, ...(run ? [own] : [])].sort((a, b) => (a.name < b.name ? -1 : 1)) }
}

/** A tool of another server may ask for arguments as HTTP headers too. We do not read such headers, so clients must not
 * send them. */
function withoutHeaders(schema: object): object {
  const key = "x-mcp-header"
  const json = JSON.stringify(schema)
  if (!json.includes(`"${key}"`)) return schema
  return JSON.parse(json, (name, value) => (name === key ? undefined : value))
}

async function runPrompt(call: {
  args: unknown
  options: Options
  context: ServerContext
  report(text: string): void
}): Promise<CallToolResult> {
  const { options, context, report } = call
  const { data: args, error } = RunPrompt.Parameters.safeParse(call.args)
  if (!args) return errorResult(`The arguments of "run" are wrong: ${z.prettifyError(error)}`)
  const { rules, yes } = options
  const { signal } = context.mcpReq
  try {
    const answer = await RunPrompt.runPrompt({ args, rules, yes, signal, report })
    return { content: [{ type: "text", text: answer.text }], structuredContent: answer }
  } catch (error) {
    return errorResult(Secret.redact(errorText(error)))
  }
}

/** The client asks its person, and calls again with the answer. The answer is valid once, for the call that was
 * asked about. */
async function askThenCall(
  call: ToolCall,
  { context, consents }: { context: ServerContext; consents: Consents },
): Promise<CallToolResult | InputRequiredResult> {
  const question = await questionOf(call)
  if (!question) return toCallResult(call.tool, await callTool(call))
  const { inputResponses, requestState } = context.mcpReq
  const key = hashOf(question.key, call)
  if (!inputResponses?.consent || !consents.answer(requestState(), key))
    return inputRequired({
      inputRequests: {
        consent: inputRequired.elicit({ message: question.text, requestedSchema: Consent }),
      },
      requestState: await consents.open(key),
    })
  const consent = await acceptedContent(inputResponses, "consent", Consent)
  if (!consent?.allow) return errorResult(`"${call.tool.id}" was not run: the person rejected it.`)
  return toCallResult(call.tool, await callTool({ ...call, approved: question.key }))
}

/** Identifies the call with all its arguments. The key of the judgement alone is not enough: it does not cover the
 * arguments of another server's tool. */
function hashOf(judged: string, { tool, args }: ToolCall): string {
  return createHash("sha256")
    .update(JSON.stringify([judged, tool.id, args]))
    .digest("hex")
}

function supportsForms(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined
  const { elicitation } = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {}
  // In older revisions an empty object means forms: URLs did not exist.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

/** Denied tools get the same error as tools that do not exist. */
async function unavailable(
  name: string,
  { offered, options, context }: { offered: Offer; options: Options; context: ServerContext },
): Promise<ProtocolError> {
  const { agent, tools, run, isSandboxed } = offered
  // Only clients of the newer revision know this error code.
  if (context.mcpReq.envelope && !isSandboxed) {
    const askable = await offeredTools({ agent, rules: options.rules, canAsk: true })
    if (askable.some(({ id }) => id === name && !tools.some((tool) => tool.id === id)))
      return new MissingRequiredClientCapabilityError(
        { requiredCapabilities: { elicitation: { form: {} } } },
        `Tool "${name}" is not offered: it needs a person's permission, and this client cannot ask for it.`,
      )
  }
  const names = [...tools.map(({ id }) => id), ...(run ? ["run"] : [])].sort()
  const why = isSandboxed ? " outside of the sandbox of the configuration" : ""
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Tool ${JSON.stringify(name.slice(0, 100))} is not offered${why}. Available: ${names.join(", ") || "none"}`,
  )
}

/** Sends progress notifications with ascending numbers, if the client asked for them with a progress token. */
function createReport({ mcpReq }: ServerContext): (text: string) => void {
  const { progressToken } = mcpReq._meta ?? {}
  if (progressToken === undefined) return () => {}
  let progress = 0
  return (text) => {
    // The end of a program's output shows what it does now.
    const message = plainText(Secret.redact(text.trim()).slice(-maxText), maxText)
    if (!message || mcpReq.signal.aborted) return
    const params = { progressToken, progress: ++progress, message }
    mcpReq
      .notify({ method: "notifications/progress", params })
      .catch((error) => Log.debug("a notification could not be sent to an MCP client", { error }))
  }
}

/** The question for a person, if the rules say "ask" for a call. `key` identifies the judgement. Undefined if no question
 * is needed, or if the call cannot run anyway. */
async function questionOf(call: ToolCall): Promise<{ key: string; text: string } | undefined> {
  const { agent, rules, tool, args, signal } = call
  const session = await ToolCalls.session(agent.id)
  const context = { sessionId: session.id, messageId: "", callId: "", signal }
  // The gate reports what is wrong with the call.
  const step = await stepOf({ id: "", name: tool.id, arguments: args }, context).catch(() => undefined)
  if (!step) return undefined
  const { decide } = await createRights({ session, agent, rules }).now()
  const judgement = await judgeStep(step, decide).catch(() => undefined)
  if (judgement?.action !== "ask") return undefined
  const needs = judgement.needs.filter(({ action }) => action === "ask").map(Permission.showNeed)
  const preview = tool.preview?.(step.args)?.slice(0, maxPreview)
  const title = Log.escapeControls(`Allow ${tool.id}: ${needs.map(Permission.sayNeed).join(", ")}?`)
  const lines = preview ? preview.split("\n").map(Log.escapeControls) : []
  return { key: judgement.key, text: [title, ...lines].join("\n") }
}
