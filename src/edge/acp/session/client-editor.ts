// The files and terminals of the client, for tools. Only what the client offers is used.
import {
  type AgentContext,
  type ClientCapabilities,
  methods,
  type TerminalHandle,
} from "@agentclientprotocol/sdk"
import type { Editor, Terminal, TerminalOrder } from "#ability/call/editor.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"
import { orAborted } from "#util/wait.ts"

type Options = {
  client: AgentContext
  capabilities: ClientCapabilities
  sessionId: string
  /** Whether the client shows this call. */
  isShown(call: Pick<TerminalOrder, "messageId" | "callId">): boolean
  /** Shows the terminal with the call. */
  show(call: Pick<TerminalOrder, "messageId" | "callId">, terminalId: string): void
}

const { fs } = methods.client
/** Milliseconds. A client that does not answer must not hold up a call. */
const maxWait = 10_000
const maxOutput = 1 << 20

/** Undefined if the client offers nothing. */
export function clientEditor(options: Options): Editor | undefined {
  const { capabilities } = options
  const editor: Editor = {
    ...(capabilities.fs?.readTextFile && { readText: readText.bind(undefined, options) }),
    ...(capabilities.fs?.writeTextFile && { writeText: writeText.bind(undefined, options) }),
    ...(capabilities.terminal && { startTerminal: startTerminal.bind(undefined, options) }),
  }
  return Object.keys(editor).length ? editor : undefined
}

async function readText(
  { client, sessionId }: Options,
  path: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { content } = await client.request(fs.readTextFile, { sessionId, path }, within(signal))
    return content
  } catch (error) {
    signal.throwIfAborted()
    Log.debug("the client did not give a file; the one on disk is used", { path, error: errorText(error) })
    return undefined
  }
}

async function writeText(
  { client, sessionId }: Options,
  path: string,
  content: string,
  signal: AbortSignal,
): Promise<void> {
  await client.request(fs.writeTextFile, { sessionId, path, content }, within(signal))
}

async function startTerminal(options: Options, order: TerminalOrder): Promise<Terminal | undefined> {
  const { client, sessionId } = options
  const { messageId, callId, command, args, cwd, signal } = order
  if (!options.isShown({ messageId, callId })) return undefined
  const env = Object.entries(order.env).map(([name, value]) => ({ name, value }))
  // There is no time limit: a command that is started late must not run a second time elsewhere.
  const created = client.createTerminal({ sessionId, command, args, cwd, env, outputByteLimit: maxOutput })
  try {
    const handle = await orAborted(created, signal)
    options.show({ messageId, callId }, handle.id)
    return terminalOf(handle)
  } catch (error) {
    // The command of a terminal that comes after the turn must not go on.
    if (signal.aborted) void created.then((handle) => handle.release()).catch(() => {})
    signal.throwIfAborted()
    Log.warn("the client gave no terminal; the command runs without one", { error: errorText(error) })
    return undefined
  }
}

function terminalOf(handle: TerminalHandle): Terminal {
  const ended = handle
    .waitForExit()
    .then(({ exitCode, signal }) => ({ exitCode: exitCode ?? null, signal: signal ?? null }))
  // It is awaited later, and may fail before.
  ended.catch(() => {})
  return {
    ended,
    async output() {
      const { output, truncated } = await handle.currentOutput()
      return { text: output, isCut: truncated }
    },
    async kill() {
      await handle.kill()
    },
    async release() {
      await handle.release()
    },
  }
}

function within(signal: AbortSignal) {
  const cancellationSignal = AbortSignal.any([signal, AbortSignal.timeout(maxWait)])
  return { cancellationSignal, stopWaitingOnCancel: true }
}
