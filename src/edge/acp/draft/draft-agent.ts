// Vitamin as an agent of version 2 of the Agent Client Protocol, which is a draft: the same sessions, with the requests of
// that version.
import type { McpServer } from "@agentclientprotocol/sdk"
import {
  type AgentApp,
  agent,
  type AgentContext as DraftContext,
  type McpServer as DraftServer,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk/experimental/v2"
import { listSessions } from "#edge/acp/session/list-sessions.ts"
import { checkMethod, login } from "#edge/acp/session/login.ts"
import type { Serving } from "#edge/acp/session/run-turn.ts"
import { createSessions, type Opened } from "#edge/acp/session/sessions.ts"
import { answer, InvalidParams, toRequestError } from "#edge/acp/wire/errors.ts"
import { createId } from "#util/id.ts"
import { version } from "#util/version.ts"
import { createDraftClient, type DraftClient, firstCapabilities } from "./draft-client.ts"
import { draftCommand, draftOption } from "./draft-update.ts"

type PromptParams = { sessionId: string; prompt: readonly unknown[] }

export function createDraftAgent(serving: Serving): { app: AgentApp; end(): Promise<void> } {
  const sessions = createSessions(serving)
  const on = methods.agent
  let capabilities = firstCapabilities(undefined)
  let link: DraftClient | undefined
  const linkTo = (client: DraftContext) => (link ??= createDraftClient(client))
  const caller = (method: string, client: DraftContext) => ({
    method,
    client: linkTo(client).context,
    capabilities,
    reportsPrompts: true,
  })

  async function prompt({ sessionId, prompt }: PromptParams, client: DraftContext, signal: AbortSignal) {
    const link = linkTo(client)
    return sessions.using(sessionId, async (session) => {
      const { inserted, drop } = link.expectPrompt(sessionId)
      const done = session.prompt(prompt as Parameters<typeof session.prompt>[0], signal)
      // The error of a prompt that is not in the session yet is the answer to its request.
      const first = await Promise.race([inserted, done.then((stopReason) => ({ stopReason }))]).finally(drop)
      if (typeof first !== "string") return skipped(link, { sessionId, prompt })
      done.then(
        (stopReason) => link.end(sessionId, { stopReason }),
        (error) => {
          const { code, message } = toRequestError(error)
          link.end(sessionId, { stopReason: "error", error: { code, message } })
        },
      )
      return { messageId: first }
    })
  }

  const app = agent({ name: "vitamin" })
    .onRequest(on.initialize, ({ params }) => {
      capabilities = firstCapabilities(params.capabilities ?? undefined)
      return described(capabilities.auth?.terminal === true)
    })
    .onRequest(on.auth.login, ({ params }) => answer(async () => checkMethod(params.methodId)))
    .onRequest(on.session.new, ({ params, client, method }) =>
      answer(async () => {
        const opened = await sessions.create(paramsOf(params), caller(method, client))
        return { sessionId: opened.sessionId, ...(await stateOf(opened, linkTo(client))) }
      }),
    )
    .onRequest(on.session.resume, ({ params, client, method }) =>
      answer(async () => {
        const { sessionId, replayFrom } = params
        if (replayFrom && replayFrom.type !== "start")
          throw new InvalidParams(
            `replayFrom ${JSON.stringify(replayFrom.type)} is not supported, only "start".`,
          )
        linkTo(client).forget(sessionId)
        const isReplayed = replayFrom?.type === "start"
        const opened = await sessions.load(
          { ...paramsOf(params), sessionId, isReplayed },
          caller(method, client),
        )
        return stateOf(opened, linkTo(client))
      }),
    )
    .onRequest(on.session.list, ({ params }) => answer(() => listSessions(params)))
    .onRequest(on.session.close, ({ params }) => answer(() => sessions.close(params.sessionId)))
    .onRequest(on.session.delete, ({ params }) => answer(() => sessions.remove(params.sessionId)))
    .onRequest(on.session.setConfigOption, ({ params }) =>
      answer(() =>
        sessions.using(params.sessionId, async (session) => {
          await session.setOption(params.configId, params.value)
          const { configOptions } = await session.options()
          return { configOptions: configOptions.map(draftOption) }
        }),
      ),
    )
    .onRequest(on.session.prompt, ({ params, client, signal }) =>
      answer(() => prompt(params, client, signal)),
    )
    .onNotification(on.session.cancel, async ({ params }) => {
      await sessions.using(params.sessionId, async (session) => session.cancel()).catch(() => {})
    })
  return Object.freeze({ app, end: sessions.closeAll })
}

/** A prompt that was cancelled before it was in the session is reported as if it had been. */
function skipped(link: DraftClient, { sessionId, prompt }: PromptParams): { messageId: string } {
  const messageId = createId("msg")
  link.begin(sessionId)
  link.send(sessionId, { sessionUpdate: "user_message", messageId, content: prompt as never })
  setImmediate(() => link.end(sessionId, { stopReason: "cancelled" }))
  return { messageId }
}

function described(hasTerminal: boolean): InitializeResponse {
  const { id: methodId, name, description, args } = login
  return {
    protocolVersion: PROTOCOL_VERSION,
    info: { name: "vitamin", title: "Vitamin", version },
    capabilities: {
      session: {
        prompt: { image: {}, embeddedContext: {} },
        mcp: { stdio: {}, http: {} },
        delete: {},
        additionalDirectories: {},
      },
    },
    ...(hasTerminal ? { authMethods: [{ type: "terminal", methodId, name, description, args }] } : {}),
  }
}

async function stateOf({ sessionId, options, reportCommands }: Opened, link: DraftClient) {
  const commands = await link.commandsOf(sessionId, reportCommands)
  return {
    configOptions: options.configOptions.map(draftOption),
    availableCommands: commands.map(draftCommand),
  }
}

function paramsOf(params: { cwd: string; additionalDirectories?: string[]; mcpServers?: DraftServer[] }) {
  const { cwd, additionalDirectories, mcpServers = [] } = params
  return { cwd, additionalDirectories, mcpServers: mcpServers.map(firstServer) }
}

function firstServer(server: DraftServer): McpServer {
  const {
    type,
    args = [],
    env = [],
    headers = [],
    ...rest
  } = server as Record<string, unknown> & { type: string }
  if (type === "stdio") return { ...rest, args, env } as McpServer
  if (type === "http") return { ...rest, type, headers } as McpServer
  throw new InvalidParams(`MCP servers over ${JSON.stringify(type)} are not supported, only stdio and http.`)
}
