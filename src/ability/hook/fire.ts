// Runs the hooks of an event, all that match at the same time, and combines their answers: a block beats a question, and both
// beat everything else. A hook never allows anything.
import { setTimeout as sleep } from "node:timers/promises"
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import { outputOf } from "#ability/tool/server-output.ts"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import { isPlain, type Raw } from "#kernel/schema/check.ts"
import type { HookEvent, HookInput } from "#kernel/schema/schema.ts"
import { errorText } from "#util/error.ts"
import { runLimited } from "#util/run-limited.ts"
import { orAborted } from "#util/wait.ts"
import { type About, type Hook, isFor, type McpTool } from "./hook.ts"
import { type Answer, answerOf, readOutput } from "./read-answer.ts"
import { runCommand } from "./run-command.ts"
import { unreviewedFile } from "./unreviewed-file.ts"

export type Told = { hook: Hook; answer: Answer }
type Firing = About & {
  event: HookEvent
  input: HookInput
  signal: AbortSignal
  toolUseId?: string | undefined
}

/** Milliseconds that hooks nobody waits for get when the instance ends: a sound at the answer is still played. */
const maxLater = 1_500

/** Hooks nobody waits for that still run. The instance waits for them before it ends the processes of hooks. */
const later = Instance.state(
  () => new Set<Promise<void>>(),
  async (running) => {
    if (running.size) await Promise.race([Promise.all(running), sleep(maxLater, undefined, { ref: false })])
  },
  { isWork: true },
)

/** Events where a failure of a hook that must not fail is a block. */
const blocking = new Set<HookEvent>(["UserPromptSubmit", "PreToolUse", "PermissionRequest"])

/** The answers in the order of the hooks, without those that say nothing. */
export async function fire(hooks: readonly Hook[], firing: Firing): Promise<Told[]> {
  const matching = hooks.filter((hook) => isFor(hook, firing.event, firing))
  if (!matching.length) return []
  const functions = callFunctions(matching, firing)
  const answers = await Promise.all(
    matching.map((hook) => {
      if (hook.isAsync && firing.event !== "SessionEnd") return void runLater(hook, firing)
      return functions.get(hook) ?? runHook(hook, firing)
    }),
  )
  return matching.flatMap((hook, i) => {
    const answer = answers[i]
    return answer && Object.keys(answer).length ? [{ hook, answer: closed(hook, firing.event, answer) }] : []
  })
}

/** Functions are called in this thread, all within one time limit of V8. One that does not return is ended. */
function callFunctions(matching: readonly Hook[], firing: Firing): Map<Hook, Promise<Answer> | Answer> {
  const found = new Map<Hook, Promise<Answer> | Answer>()
  const list = matching.filter(({ work, isAsync }) => work.type === "function" && !isAsync)
  let at = 0
  const callRest = () => {
    for (; at < list.length; at++) found.set(list[at]!, callFunction(list[at]!, firing))
  }
  while (at < list.length) {
    const hook = list[at]!
    if (!runLimited(callRest, hook.timeout)) found.set(list[at]!, { error: late(list[at++]!.timeout) })
  }
  return found
}

function callFunction(hook: Hook, firing: Firing): Promise<Answer> | Answer {
  const { work } = hook
  if (work.type !== "function") return {}
  try {
    const answer = work.call(firing.input, firing.toolUseId, { signal: firing.signal })
    if (answer instanceof Promise) return waitFor(hook, answer, firing)
    return readOutput(firing.event, answer)
  } catch (error) {
    return { error: errorText(error) }
  }
}

async function waitFor(hook: Hook, answer: Promise<unknown>, { event, signal }: Firing): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<Answer>((resolve) => {
    timer = setTimeout(() => resolve({ error: late(hook.timeout) }), hook.timeout)
  })
  try {
    const done = orAborted(answer, signal).then((value) => readOutput(event, value))
    return await Promise.race([done, over])
  } catch (error) {
    return { error: errorText(error) }
  } finally {
    clearTimeout(timer)
  }
}

async function runHook(hook: Hook, { event, input, signal }: Firing): Promise<Answer> {
  const { work, timeout } = hook
  if (work.type === "mcp_tool") return callTool(work, { event, input, timeout, signal })
  if (work.type === "function") return {}
  const unreviewed = await unreviewedFile(work)
  if (unreviewed?.wasReviewed && blocking.has(event)) return { block: `it was not run: ${unreviewed.reason}` }
  if (unreviewed) return { error: `it was not run: ${unreviewed.reason}` }
  const ran = await runCommand(work, { input: `${JSON.stringify(input)}\n`, timeout, signal })
  const answer = answerOf(event, ran)
  // JSON that was cut may have been a decision.
  const isUnknown = ran.isCut && ran.code === 0 && answer.error !== undefined && blocking.has(event)
  return isUnknown ? { ...answer, block: `its answer was too long to be read: ${answer.error}` } : answer
}

/** Its answer counts for nothing, but a failure is logged. */
function runLater(hook: Hook, firing: Firing): void {
  const running = later()
  const run = runHook(hook, firing)
    .catch((error): Answer => ({ error: errorText(error) }))
    .then(({ error }) => {
      running.delete(run)
      if (error) Log.warn(`the hook "${hook.name}" (${firing.event}) failed: ${error}`)
    })
  running.add(run)
}

/** The text that the tool gives is read like the output of a command. */
async function callTool(
  { server, tool, input: given }: McpTool,
  { event, input, timeout, signal }: Pick<Firing, "event" | "input" | "signal"> & { timeout: number },
): Promise<Answer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
  try {
    const servers = await ifConfigured()
    if (!servers) return { error: "there are no MCP servers" }
    const args = given ? (filled(given, input) as Raw) : { ...input }
    const one = await servers.get(server)
    const result = await orAborted(
      one.callTool(tool, args, { signal: limit, sessionId: input.session_id }),
      limit,
    )
    const { text: said } = outputOf(result)
    if (result.isError) return { error: said }
    return answerOf(event, { code: 0, stdout: said, stderr: "" })
  } catch (error) {
    return { error: limit.aborted && !signal.aborted ? late(timeout) : errorText(error) }
  }
}

/** `${tool_input.file_path}` is replaced by that field of the input. */
function filled(value: unknown, input: HookInput): unknown {
  if (Array.isArray(value)) return value.map((one) => filled(one, input))
  if (isPlain(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, input)]))
  if (typeof value !== "string") return value
  return value.replaceAll(/\$\{([\w.]+)\}/g, (whole, path: string) => {
    const found = path
      .split(".")
      .reduce<unknown>((part, name) => (isPlain(part) ? part[name] : undefined), input)
    return found === undefined ? whole : typeof found === "string" ? found : JSON.stringify(found)
  })
}

function closed(hook: Hook, event: HookEvent, answer: Answer): Answer {
  if (!answer.error || !hook.failsClosed || !blocking.has(event)) return answer
  return { ...answer, block: `it failed: ${answer.error}` }
}

function late(timeout: number): string {
  return `it did not end within ${timeout / 1_000} s, and was ended`
}
