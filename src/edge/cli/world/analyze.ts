// `vitamin world analyze`: the static analysis of templates. Nothing of the folder is run, so it needs no trust.
import { analyze } from "#ability/analysis/analysis.ts"
import { sayFinding, sayTotal } from "#ability/analysis/say-report.ts"
import { exitCodes } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions } from "#edge/cli/process/in-instance.ts"
import { safeText } from "#edge/cli/terminal/safe-text.ts"
import { NamedError } from "#util/error.ts"

type Options = FolderOptions & { glob?: string | undefined; format: "text" | "json" }

class NoTemplates extends NamedError {
  constructor(glob: string | undefined, directory: string) {
    const which = glob === undefined ? "is in" : `fits ${glob} in`
    super("World.NoTemplates", `No template (HTML, CSS, or TypeScript with markup) ${which} ${directory}.`)
  }
}

export async function analyzeTemplates(options: Options): Promise<void> {
  const root = directoryOf(options)
  const report = await analyze({ root, glob: options.glob })
  if (!report.files.length) throw new NoTemplates(options.glob, root)
  if (report.errors) process.exitCode = exitCodes.failed
  if (options.format === "json") return print(JSON.stringify(report, null, 2))
  for (const { findings } of report.files) for (const finding of findings) print(sayFinding(finding))
  print(sayTotal(report))
}

/** Templates name and quote what they like. */
function print(text: string): void {
  process.stdout.write(`${safeText(text)}\n`)
}
