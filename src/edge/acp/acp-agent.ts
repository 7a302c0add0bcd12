// Vitamin as an agent of the Agent Client Protocol (ACP): the handler of each request that an editor can send.
import {
  type AgentApp,
  type AgentContext,
  type AuthMethod,
  agent,
  type ClientCapabilities,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk"
import { listSessions } from "#edge/acp/session/list-sessions.ts"
import type { PersonOptions } from "#edge/acp/session/run-turn.ts"
import { createSessions, type Opened } from "#edge/acp/session/sessions.ts"
import { InvalidParams, toRequestError } from "#edge/acp/wire/errors.ts"
import { version } from "#util/version.ts"

export type AcpAgent = Readonly<{
  app: AgentApp
  /** Close every session of the client, and wait until their work has stopped. */
  end(): Promise<void>
}>

const login = {
  id: "login",
  name: "Log in to a provider",
  description: "Stores an API key for a model provider.",
}

export function createAcpAgent(person: PersonOptions): AcpAgent {
  const sessions = createSessions(person)
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
        return { sessionId: opened.sessionId, ...stateOf(opened) }
      }),
    )
    .onRequest(on.session.load, ({ params, client, method }) =>
      answer(async () =>
        stateOf(await sessions.load({ ...params, isReplayed: true }, caller(method, client))),
      ),
    )
    .onRequest(on.session.resume, ({ params, client, method }) =>
      answer(async () =>
        stateOf(await sessions.load({ ...params, isReplayed: false }, caller(method, client))),
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
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    },
    authMethods: auth?.terminal ? [terminalLogin()] : [],
  }
}

/** To log in, the client runs its vitamin command again in a terminal, with `args` appended. */
function terminalLogin(): AuthMethod {
  return { type: "terminal", ...login, args: ["--login"] }
}

/** There is nothing to do beyond the check: a provider's key is looked up when a request needs it. */
function checkMethod(methodId: string): Record<string, never> {
  if (methodId === login.id) return {}
  throw new InvalidParams(
    `Authentication method ${JSON.stringify(methodId.slice(0, 100))} does not exist. Available: ${login.id}`,
  )
}

/** The options of a session, for the response. Its commands are reported after the response, which gives the client the
 * session id. */
function stateOf({ options, reportCommands }: Opened): Opened["options"] {
  setImmediate(reportCommands)
  return options
}

/** The one place that converts errors into JSON-RPC errors. */
async function answer<T>(fn: () => Promise<T>): Promise<T> {
  try {
    return await fn()
  } catch (error) {
    throw toRequestError(error)
  }
}
