// Vitamin as an agent of the Agent Client Protocol (ACP): the handler of each request that an editor can send.
import {
  type AgentApp,
  type AgentContext,
  agent,
  type ClientCapabilities,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk"
import { listSessions } from "#edge/acp/session/list-sessions.ts"
import { checkMethod, login } from "#edge/acp/session/login.ts"
import type { Serving } from "#edge/acp/session/run-turn.ts"
import { createSessions, type Opened } from "#edge/acp/session/sessions.ts"
import { answer } from "#edge/acp/wire/errors.ts"
import { version } from "#util/version.ts"

export type { Serving }
export type AcpAgent = Readonly<{
  app: AgentApp
  /** Close every session of the client, and wait until their work has stopped. */
  end(): Promise<void>
}>

export function createAcpAgent(serving: Serving): AcpAgent {
  const sessions = createSessions(serving)
  const on = methods.agent
  let capabilities: ClientCapabilities = {}
  const caller = (method: string, client: AgentContext) => ({ method, client, capabilities })

  const app = agent({ name: "vitamin" })
    .onRequest(on.initialize, ({ params }) => {
      capabilities = params.clientCapabilities ?? {}
      return described(capabilities)
    })
    .onRequest(on.authenticate, ({ params }) => answer(async () => checkMethod(params.methodId)))
    .onRequest(on.session.new, ({ params, client, method }) =>
      answer(async () => {
        const opened = await sessions.create(params, caller(method, client))
        // The client knows the session after the response.
        setImmediate(() => void opened.reportCommands())
        return { sessionId: opened.sessionId, ...opened.options }
      }),
    )
    .onRequest(on.session.load, ({ params, client, method }) =>
      answer(async () =>
        reported(await sessions.load({ ...params, isReplayed: true }, caller(method, client))),
      ),
    )
    .onRequest(on.session.resume, ({ params, client, method }) =>
      answer(async () =>
        reported(await sessions.load({ ...params, isReplayed: false }, caller(method, client))),
      ),
    )
    .onRequest(on.session.list, ({ params }) => answer(() => listSessions(params)))
    .onRequest(on.session.close, ({ params }) => answer(() => sessions.close(params.sessionId)))
    .onRequest(on.session.delete, ({ params }) => answer(() => sessions.remove(params.sessionId)))
    .onRequest(on.session.setMode, ({ params }) =>
      answer(() => sessions.using(params.sessionId, (session) => session.setOption("mode", params.modeId))),
    )
    .onRequest(on.session.setConfigOption, ({ params }) =>
      answer(() =>
        sessions.using(params.sessionId, async (session) => {
          await session.setOption(params.configId, params.value)
          const { configOptions } = await session.options()
          return { configOptions }
        }),
      ),
    )
    .onRequest(on.session.prompt, ({ params, signal }) =>
      answer(() =>
        sessions.using(params.sessionId, async (session) => ({
          stopReason: await session.prompt(params.prompt, signal),
        })),
      ),
    )
    .onNotification(on.session.cancel, async ({ params }) => {
      // There is nothing to cancel in a session that is not open.
      await sessions.using(params.sessionId, async (session) => session.cancel()).catch(() => {})
    })
  return Object.freeze({ app, end: sessions.closeAll })
}

/** The client gets our protocol version, whatever version it sent, and disconnects if it does not support ours. */
function described({ auth }: ClientCapabilities): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "vitamin", title: "Vitamin", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
    },
    authMethods: auth?.terminal ? [{ type: "terminal", ...login }] : [],
  }
}

/** The options of a session that the client knows. Everything about it is reported before the response. */
async function reported({ options, reportCommands }: Opened): Promise<Opened["options"]> {
  await reportCommands()
  return options
}
