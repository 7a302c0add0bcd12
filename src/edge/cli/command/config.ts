// `vitamin config show`: the effective configuration, and the layer of each value.
import { directoryOf, type FolderOptions } from "#edge/cli/process/in-instance.ts"
import * as Config from "#kernel/config/config.ts"
import * as Log from "#kernel/process/log.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { ownCommand } from "#util/own-command.ts"

export async function showConfig(options: FolderOptions & { format: "text" | "json" }): Promise<void> {
  const directory = directoryOf(options)
  try {
    if (options.trust) await Trust.grant(directory, { keep: false })
    const inspection = await Config.inspect({ directory })
    const shown = {
      ...inspection,
      config: Config.redacted(inspection.config),
      waiting: (await Trust.check(directory)) ? await waiting(directory) : [],
    }
    const text = () => asText({ ...shown, settings: Config.listSettings(inspection) })
    process.stdout.write(options.format === "json" ? `${JSON.stringify(shown, null, 2)}\n` : text())
  } finally {
    await Storage.close()
  }
}

type Shown = Omit<Config.Inspection, "config" | "origins"> & { settings: Config.Setting[]; waiting: string[] }

/** Files of a trusted folder that a person still has to review. */
async function waiting(directory: string): Promise<string[]> {
  return (await Trust.pending(directory)).map(({ path, state }) => `${path} (${state})`)
}

function asText({ settings, layers, warnings, ignored, waiting }: Shown): string {
  const lines = layers.map(({ source, path, status }) =>
    `  ${source.padEnd(12)} ${status.padEnd(9)} ${path ?? ""}`.trimEnd(),
  )
  const values = settings.map(({ key, value, source }) => [`${key} = ${show(value)}`, source] as const)
  const width = Math.min(64, Math.max(0, ...values.map(([text]) => text.length)))
  return [
    "Layers, the later one wins:",
    ...lines,
    "",
    values.length ? "Values:" : "No layer sets a value.",
    ...values.map(([text, source]) => `  ${text.padEnd(width)}  (${source})`),
    ...section(
      "Ignored:",
      ignored.map(({ source, key, reason }) => `${key} in ${source}: ${reason}`),
    ),
    ...section(`To be reviewed with ${ownCommand} trust:`, waiting.map(Log.escapeControls)),
    ...section("Warnings:", warnings),
    "",
  ].join("\n")
}

function section(title: string, lines: string[]): string[] {
  return lines.length ? ["", title, ...lines.map((line) => `  ${line}`)] : []
}

function show(value: unknown): string {
  return Log.escapeControls(typeof value === "string" ? value : (JSON.stringify(value) ?? "unset"))
}
