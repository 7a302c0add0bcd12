// `vitamin guard check`: explores the configured guards and prints what is wrong with them.
import { ifConfigured } from "#ability/mcp/if-configured.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { exitCodes, UsageError } from "#edge/cli/process/exit.ts"
import { type FolderOptions, inInstance } from "#edge/cli/process/in-instance.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import { type Check, checkGuards, UnknownAction } from "#engine/explore/check-guards.ts"
import type { Finding, Waiting } from "#engine/explore/findings.ts"
import { loadGuards, unusedFiles } from "#engine/symbolic/load-guards.ts"
import * as Config from "#kernel/config/config.ts"
import * as Log from "#kernel/process/log.ts"

type Options = FolderOptions & { format: "text" | "json"; require?: string[] | undefined }

export async function checkConfigured(options: Options): Promise<void> {
  await inInstance(options, async () => {
    const guards = await loadGuards()
    // Tools of MCP servers come from their manifests. No server is started.
    await (await ifConfigured())?.list()
    const tools = new Set(ToolRegistry.list().map(({ id }) => id))
    const check = checked(() => checkGuards(guards, { tools, required: options.require ?? ["answer"] }))
    const unused = [...unusedFiles(), ...(await ignoredGuards())]
    if (check.findings.length || unused.length) process.exitCode = exitCodes.failed
    if (options.format === "json")
      return void process.stdout.write(`${JSON.stringify({ ...check, unused }, null, 2)}\n`)
    for (const line of linesOf(check, unused.length))
      process.stdout.write(`${wrapList(Log.escapeControls(line), 2)}\n`)
  })
}

function checked(work: () => Check): Check {
  try {
    return work()
  } catch (error) {
    throw error instanceof UnknownAction ? new UsageError(error.message) : error
  }
}

/** Guards of a project that is not trusted. */
async function ignoredGuards(): Promise<string[]> {
  const { ignored } = await Config.current()
  const own = ignored.filter(({ key }) => key.split(".")[0] === "guards")
  return own.map(({ source, key, reason }) => `${key} (${source}): ${reason}`)
}

/** Stderr has said which files are not used. */
function linesOf(check: Check, unused: number): string[] {
  const { guards, unknown, states, isComplete, findings, unexplored } = check
  const missing = unused ? [`${countOf(unused, "file")} not used`] : []
  if (!guards.length) return [unused ? `No guards, ${missing}` : "No guards are configured (docs/guards.md)."]
  return [
    ...findings.flatMap(describe),
    ...unknown.map(({ guard, name }) => `note: guard "${guard}" names "${name}", and no tool has this name`),
    ...unexplored.map(({ thread, reason }) => `note: guard "${thread}" cannot be explored: ${reason}`),
    ...(isComplete ? [] : ["note: there are more states; nothing is known about the rest"]),
    [
      countOf(guards.length, "guard"),
      countOf(states, "state"),
      countOf(findings.length, "problem"),
      ...missing,
    ].join(", "),
  ]
}

function describe(finding: Finding): string[] {
  if (finding.kind === "idle")
    return [`idle: guard "${finding.thread}" never blocks anything; ${finding.reason}`]
  const after = finding.trace.length ? ` after ${finding.trace.join(", ")}` : " from the start"
  if (finding.kind === "endless") return [`endless: guard "${finding.thread}" requests for ever${after}`]
  if (finding.kind === "deadlock") {
    const what =
      finding.action === undefined ? "nothing can happen" : `"${finding.action}" is blocked for ever`
    return [`deadlock: ${what}${after}`, ...finding.blockedBy.map(sayWaiting)]
  }
  const names = finding.threads.map(({ thread }) => `"${thread}"`)
  const what =
    names.length === 1
      ? `guard ${names[0]} blocks what it waits for`
      : `guards ${names.join(", ")} wait for each other`
  return [`contradiction: ${what}${after}`, ...finding.threads.map(sayWaiting)]
}

function sayWaiting({ thread, waitsFor }: Waiting): string {
  const events = waitsFor.map(({ event, blockedBy }) => {
    const by = blockedBy.map((name) => (name === thread ? "it blocks itself" : `"${name}" blocks`))
    return by.length ? `${event}, which ${by.join(" and ")}` : event
  })
  return `  guard "${thread}" ${events.length ? `waits for ${events.join("; or for ")}` : "waits for nothing that can happen"}`
}
