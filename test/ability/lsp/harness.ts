// Projects with a real language server, and calls of tools in them.
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import type { Json } from "#ability/call/types.ts"
import { type Result, runTool } from "#ability/tool/run-tool.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import type * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import * as Storage from "#kernel/storage/storage.ts"
import * as Trust from "#kernel/trust/trust.ts"
import { type Tmp, tmpdir } from "../../fixture/tmpdir.ts"

const packages = join(import.meta.dirname, "../../../node_modules")

/** Gives a project packages of this one, as if they were installed there. */
export function install(tmp: Pick<Tmp, "path">, ...names: string[]): void {
  mkdirSync(join(tmp.path, "node_modules/.bin"), { recursive: true })
  for (const name of names) {
    mkdirSync(join(tmp.path, "node_modules", name, ".."), { recursive: true })
    symlinkSync(join(packages, name), join(tmp.path, "node_modules", name))
  }
}

const tools = join(import.meta.dirname, "../../../script/language-tools")

/** Why tests with the servers and formatters of npm cannot run here, or false. */
export const noTools: string | false = existsSync(join(tools, "node_modules/.package-lock.json"))
  ? false
  : "the language servers of script/language-tools are not installed here; script/setup.sh says why"

/** Gives a project programs that `script/setup.sh` installs for the tests. */
export function installTools(tmp: Pick<Tmp, "path">, ...names: string[]): void {
  mkdirSync(join(tmp.path, "node_modules/.bin"), { recursive: true })
  for (const name of names)
    symlinkSync(join(tools, "node_modules/.bin", name), join(tmp.path, "node_modules/.bin", name))
}

const versionArgument: Record<string, string> = { go: "version", gopls: "version", gofmt: "-h" }

/** `missing`: why tests with a program of this machine cannot run, or false. One of rustup may be there without its program. */
export function program(name: string): { missing: string | false } {
  const { status } = spawnSync(name, [versionArgument[name] ?? "--version"])
  const works = status === 0 || (name === "gofmt" && status === 2)
  return { missing: works ? false : `${name} is not installed here` }
}

/** Installs TypeScript and writes two modules, of which one imports the other. */
export function typeScriptProject(tmp: Tmp, { version = 7 } = {}): void {
  if (version === 7) install(tmp, "typescript")
  else {
    installTools(tmp, "typescript-language-server")
    symlinkSync(join(tools, "node_modules/typescript"), join(tmp.path, "node_modules/typescript"))
  }
  const compilerOptions = { strict: true, noEmit: true, module: "nodenext", allowImportingTsExtensions: true }
  tmp.write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["src"] }))
  tmp.write("src/price.ts", "export const price: number = 1\n")
  tmp.write("src/total.ts", 'import { price } from "./price.ts"\n\nexport const total: number = price * 2\n')
}

/** Runs `fn` in the Instance of a new folder, which is trusted. `prepare` writes its files. */
export async function inTrusted(
  prepare: (tmp: Tmp) => void,
  fn: (tmp: Tmp) => Promise<void>,
  config?: Config.Input,
): Promise<void> {
  await using tmp = await tmpdir({ git: true })
  prepare(tmp)
  if (config) tmp.write(".vitamin/config.jsonc", JSON.stringify(config))
  try {
    await Trust.grant(tmp.path)
    await Instance.provide({ directory: tmp.path, fn: () => fn(tmp) })
  } finally {
    await Instance.disposeAll()
    await Storage.close()
  }
}

/** A call through the gate, with everything allowed. */
export async function call(name: string, args: Json, notices: string[] = []): Promise<Result> {
  await loadToolGroups()
  const context = {
    sessionId: "ses_1",
    messageId: "msg_1",
    callId: "call_1",
    signal: new AbortController().signal,
    notice: (text: string) => void notices.push(text),
  }
  return runTool({
    call: { id: "call_1", name, arguments: args },
    context,
    slots: { permit: () => undefined },
  })
}

export const replace = (path: string, oldText: string, newText: string, notices?: string[]) =>
  call("edit", { path, edits: [{ oldText, newText }] }, notices)
