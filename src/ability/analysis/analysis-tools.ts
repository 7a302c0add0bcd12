// The tool `world_analyze`: the static analysis, for the agent that writes a template.
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { mayRead, needsReading, openTarget } from "#ability/file/open-target.ts"
import { Instance } from "#kernel/instance.ts"
import { NamedError } from "#util/error.ts"

const maxLines = 100

const Parameters = z.strictObject({ path: z.string().min(1).max(1_000).optional() })
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models are not sent it. */
export const manuals = {
  world_analyze: {
    example: { path: "src/card.ts" },
    arguments: { path: "File, folder or glob of templates; without it all templates." },
    limits: `5,000 files, of which the first ${maxLines} findings are shown. Files that may not be read are left out.`,
  },
}

export const analysisTools: readonly Definition[] = [
  Object.freeze({
    id: "world_analyze",
    description:
      "Check templates (HTML, CSS, markup in TypeScript) without running them: design tokens, accessibility, controls without response, imports. Returns each finding with its place and what to do.",
    category: "code",
    parameters: Parameters,
    readOnly: true,
    onlyNamed: true,
    routingName: "exec_world_analyze",
    permission: () => needsReading(),
    execute: (args, context) => run(args as Args, context),
  } satisfies Definition),
]

async function run({ path }: Args, context: Context): Promise<Output> {
  // The parsers are loaded only when the tool runs.
  const [{ analyze }, { sayFinding, sayTotal }] = await Promise.all([
    import("./analysis.ts"),
    import("./say-report.ts"),
  ])
  await using target = await openTarget(".", context)
  const report = await analyze({
    root: Instance.directory,
    glob: path,
    accepts: mayRead(target, context),
    signal: context.signal,
  })
  if (!report.files.length)
    throw new NamedError(
      "World.NoTemplates",
      `No template (HTML, CSS, or TypeScript with markup) is at ${path ?? "."}.`,
    )
  const findings = report.files.flatMap((file) => file.findings)
  const more = findings.length - maxLines
  const lines = findings.slice(0, maxLines).map(sayFinding)
  const total = sayTotal(report)
  return {
    text: [...lines, ...(more > 0 ? [`[${more} more findings]`] : []), total].join("\n"),
    title: total,
    // As a command that checks: guards take another code than 0 for a failure.
    data: { exitCode: report.errors ? 1 : 0, errors: report.errors, warnings: report.warnings },
  }
}
