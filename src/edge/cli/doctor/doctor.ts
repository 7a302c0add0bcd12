// `vitamin doctor`: checks what is installed, found, reachable and trusted, and says how to fix problems. It works
// without an instance, so that it runs with a broken configuration too.
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { findOcr, OcrMissing } from "#ability/image/find-ocr.ts"
import { findLocalServers, localPlaces } from "#ability/provider/local-servers.ts"
import { exitCodes } from "#edge/cli/process/exit.ts"
import { directoryOf, type FolderOptions, type StoreOptions } from "#edge/cli/process/in-instance.ts"
import { countOf } from "#edge/cli/terminal/count-of.ts"
import { wrapList } from "#edge/cli/terminal/wrap-text.ts"
import { readInstructions } from "#engine/context/instructions.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Objects from "#kernel/objects/objects.ts"
import * as Env from "#kernel/process/env.ts"
import * as Log from "#kernel/process/log.ts"
import type { Info } from "#kernel/schema/schema.ts"
import * as Space from "#kernel/space.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { errorText } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"
import { version } from "#util/version.ts"
import { checkFolders } from "./check-folders.ts"
import { findBrowsers } from "./find-browsers.ts"
import { findClouds } from "./find-clouds.ts"
import { findDatabase } from "./find-database.ts"
import { findExtensions } from "./find-extensions.ts"
import { findGguf } from "./find-gguf.ts"
import { findKeyring } from "./find-keyring.ts"
import { findPdf } from "./find-pdf.ts"
import { findRemotes } from "./find-remotes.ts"
import { findSandbox } from "./find-sandbox.ts"
import { findServer } from "./find-server.ts"
import { findServers } from "./find-servers.ts"
import { findSkillFaults } from "./find-skill-faults.ts"
import { findTelemetry } from "./find-telemetry.ts"
import { findQuarantined, restoreQuarantined } from "./quarantine.ts"

export type Finding = { state: "ok" | "note" | "bad"; about: string; text: string; todo?: string }

const about = "instructions"

/** With `restore`, quarantined records that can be read again are restored first. */
export async function doctor(
  options: FolderOptions & StoreOptions & { restore?: boolean | undefined; port: number },
): Promise<void> {
  const directory = directoryOf(options)
  const database = options.database ?? Env.get("VITAMIN_DATABASE")
  try {
    let bad = 0
    for (const [about, probe] of Object.entries({
      program,
      git,
      folders: checkFolders,
      ...(database ? { database: () => findDatabase(database) } : {}),
      ...(options.restore ? { restore: restoreQuarantined } : {}),
      storage,
      configuration,
      model,
      clouds: findClouds,
      gguf: findGguf,
      images,
      pdf: findPdf,
      browser: findBrowsers,
      keyring: findKeyring,
      sandbox: findSandbox,
      trust,
      mcp: findServers,
      remote: findRemotes,
      instructions: findInstructions,
      skills: findSkillFaults,
      extensions: findExtensions,
      telemetry: findTelemetry,
      server: () => findServer(options.port),
    }))
      for (const finding of await findings(about, () => probe(directory))) {
        process.stdout.write(asText(finding))
        if (finding.state === "bad") bad++
      }
    process.stdout.write(bad ? `\n${bad} of these need attention.\n` : "\nAll is well.\n")
    if (bad) process.exitCode = exitCodes.failed
  } finally {
    await Objects.close()
    await Storage.close()
  }
}

async function findings(about: string, probe: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await probe()
  } catch (error) {
    return [{ state: "bad", about, text: errorText(error) }]
  }
}

function asText({ state, about, text, todo }: Finding): string {
  const safe = text.split("\n").map(Log.escapeControls)
  const lines = safe.map((line, i) => (i ? `${" ".repeat(21)}${line}` : line))
  const rest = todo ? `${" ".repeat(21)}→ ${todo}\n` : ""
  return wrapList(`${state.padEnd(5)} ${about.padEnd(14)} ${lines.join("\n")}\n${rest}`, 21)
}

async function program(): Promise<Finding[]> {
  return [
    {
      state: "ok",
      about: "vitamin",
      text: `${version} on Node ${process.version} (${process.platform} ${process.arch})`,
    },
  ]
}

async function git(): Promise<Finding[]> {
  try {
    const { stdout } = await promisify(execFile)("git", ["--version"], {
      env: { PATH: Env.get("PATH") ?? "" },
    })
    return [{ state: "ok", about: "git", text: stdout.trim().replace("git version ", "") }]
  } catch {
    const todo =
      "install git; without it projects are identified by their path only, and changes cannot be undone"
    return [{ state: "bad", about: "git", text: "not found", todo }]
  }
}

async function storage(): Promise<Finding[]> {
  const { records, broken } = await Storage.check()
  const places = (await Storage.quarantined([])).map(({ place }) => place)
  // Broken records that are not in quarantine: they could not be moved, or are not vitamin's.
  const left = broken.filter((text) => !places.some((place) => text.includes(place)))
  return [
    { state: "ok", about: "records", text: `${countOf(records, "record")} can be read` },
    ...left.map((text): Finding => ({ state: "bad", about: "records", text })),
    ...(await findQuarantined()),
  ]
}

async function configuration(directory: string): Promise<Finding[]> {
  try {
    const { layers, warnings, ignored } = await Config.inspect({ directory })
    const used = layers.filter(({ status }) => status !== "missing").map(({ source }) => source)
    return [
      {
        state: "ok",
        about: "configuration",
        text: used.length ? `from ${used.join(", ")}` : "none; defaults apply",
      },
      ...warnings.map((text): Finding => ({ state: "note", about: "configuration", text })),
      ...ignored.map(
        ({ key, reason }): Finding => ({
          state: "note",
          about: "configuration",
          text: `${key} is ignored: ${reason}`,
        }),
      ),
    ]
  } catch (error) {
    return [
      { state: "bad", about: "configuration", text: errorText(error), todo: "correct what is named here" },
    ]
  }
}

async function model(directory: string): Promise<Finding[]> {
  const config = await Config.inspect({ directory }).then(
    ({ config }) => config,
    (): Info => ({}),
  )
  const servers = await findLocalServers(localPlaces(config))
  const chosen = Env.get("VITAMIN_MODEL") || config.model
  const found = servers.find(({ model }) => model)
  const todo = `set VITAMIN_MODEL=provider/model and run ${ownCommand} auth login PROVIDER, or start Ollama`
  return [
    chosen
      ? { state: "ok", about: "model", text: chosen }
      : found
        ? { state: "ok", about: "model", text: `none configured; ${found.providerId}/${found.model} is used` }
        : {
            state: "note",
            about: "model",
            text: "none configured; the built-in offline model local/rules is used",
            todo,
          },
    ...servers.map(({ providerId, baseURL, models }): Finding => {
      const text = models.length
        ? `${models.length} models: ${models.slice(0, 5).join(", ")}`
        : "it has no model"
      return { state: "ok", about: "model server", text: `${providerId} at ${baseURL}, ${text}` }
    }),
  ]
}

async function images(): Promise<Finding[]> {
  const about = "images"
  if (findOcr()) return [{ state: "ok", about, text: "text in them can be read (OCR, English)" }]
  return [{ state: "note", about, text: new OcrMissing().message }]
}

async function trust(directory: string): Promise<Finding[]> {
  const { name, worktree, vcs } = await Space.detect(directory)
  const where = vcs
    ? `${name}, git ${[vcs.branch, vcs.commit?.slice(0, 8)].filter(Boolean).join(" at ")}`
    : `${name}, not in git`
  return [
    { state: "ok", about: "project", text: `${where} (${worktree})` },
    (await Trust.check(directory)) ? await reviewed(directory) : untrusted,
  ]
}

const untrusted: Finding = {
  state: "note",
  about: "trust",
  text: "the folder is not trusted: its code, allow rules and servers are not used",
  todo: `${ownCommand} trust`,
}

async function reviewed(directory: string): Promise<Finding> {
  const about = "trust"
  const changes = await Trust.pending(directory)
  if (!changes.length) return { state: "ok", about, text: "the folder is trusted" }
  const names = changes.slice(0, 10).map(({ path, state }) => `${Log.escapeControls(path)} (${state})`)
  const more = changes.length > names.length ? ", …" : ""
  const text = `${countOf(changes.length, "file")} not used until you review: ${names.join(", ")}${more}`
  return { state: "note", about, text, todo: `${ownCommand} trust` }
}

/** The instruction files that every prompt starts with. */
async function findInstructions(directory: string): Promise<Finding[]> {
  try {
    await Config.inspect({ directory })
  } catch {
    // The problem with the configuration was reported already.
    return []
  }
  try {
    const files = await Instance.provide({ directory, fn: () => readInstructions() })
    if (files.length) return [{ state: "ok", about, text: files.map(({ name }) => name).join(", ") }]
    const todo = "write what every task should know into AGENTS.md"
    return [{ state: "note", about, text: "none", todo }]
  } finally {
    await Instance.disposeAll()
  }
}
