// The language servers that are found without configuration, and how each is found: in the project first, then on PATH.
import { existsSync, realpathSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, extname, join } from "node:path"
import * as ProjectTools from "#ability/shell/project-tools.ts"
import { findProgram } from "#kernel/process/find-program.ts"
import { textOf } from "#util/file/path-info.ts"

export type Known = Readonly<{
  id: string
  /** Language ids by ending. */
  extensions: Record<string, string>
  /** Files that mark its folder. */
  markers: readonly string[]
  /** Without a marker it would report problems that are none. */
  needsMarker: boolean
  /** Its command for a folder; `folders` are those from there up to the work tree. */
  find(folders: readonly string[]): string[] | undefined
  initialization?: unknown
  settings?(root: string): unknown
}>

const typescript = Object.fromEntries(
  ["ts", "mts", "cts"].map((name) => [`.${name}`, "typescript"]).concat([[".tsx", "typescriptreact"]]),
)
const javascript = Object.fromEntries(
  ["js", "mjs", "cjs"].map((name) => [`.${name}`, "javascript"]).concat([[".jsx", "javascriptreact"]]),
)
const c = { ".c": "c", ".h": "c" }
const cpp = Object.fromEntries(["cc", "cpp", "cxx", "hh", "hpp", "hxx"].map((name) => [`.${name}`, "cpp"]))

/** A rename at an import changes the symbol itself, not only its name in that file. Nobody completes imports, and preparing
 * them would read all packages after every edit. */
const scriptSettings = {
  preferences: { useAliasesForRenames: false },
  suggest: { autoImports: false },
}

export const knownServers: readonly Known[] = [
  {
    id: "typescript",
    extensions: { ...typescript, ...javascript },
    markers: ["tsconfig.json", "jsconfig.json", "package.json"],
    needsMarker: true,
    find: (folders) =>
      nativeTypeScript(folders) ?? program(folders, ["typescript-language-server"], ["--stdio"]),
    settings: () => ({ typescript: scriptSettings, javascript: scriptSettings }),
    // The same for typescript-language-server. An edit must not fetch types from the network.
    initialization: {
      disableAutomaticTypingAcquisition: true,
      preferences: {
        providePrefixAndSuffixTextForRename: false,
        includeCompletionsForModuleExports: false,
      },
    },
  },
  {
    id: "python",
    extensions: { ".py": "python", ".pyi": "python" },
    markers: ["pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"],
    needsMarker: false,
    find: (folders) => program(folders, ["pyright-langserver", "basedpyright-langserver"], ["--stdio"]),
    settings: pythonSettings,
  },
  {
    id: "go",
    extensions: { ".go": "go" },
    markers: ["go.work", "go.mod"],
    needsMarker: true,
    find: (folders) => program(folders, ["gopls"], []),
  },
  {
    id: "rust",
    extensions: { ".rs": "rust" },
    markers: ["Cargo.toml"],
    needsMarker: true,
    find: (folders) => program(folders, ["rust-analyzer"], []),
    // An edit must not run the project's build scripts and macros: that is for a command, which is judged.
    initialization: {
      cargo: { buildScripts: { enable: false } },
      procMacro: { enable: false },
      checkOnSave: false,
    },
  },
  {
    id: "c",
    extensions: { ...c, ...cpp },
    markers: ["compile_commands.json", "compile_flags.txt", ".clangd"],
    needsMarker: true,
    find: (folders) => program(folders, ["clangd"], []),
  },
  {
    id: "bash",
    extensions: { ".sh": "shellscript", ".bash": "shellscript" },
    markers: [],
    needsMarker: false,
    find: (folders) => program(folders, ["bash-language-server"], ["start"]),
  },
]

function program(
  folders: readonly string[],
  names: readonly string[],
  args: readonly string[],
): string[] | undefined {
  const command = ProjectTools.find(folders, names)
  return command && [...command, ...args]
}

/** TypeScript from version 7 is a language server itself. Its native program is called directly, which saves a process. */
function nativeTypeScript(folders: readonly string[]): string[] | undefined {
  const local = folders.map((folder) => join(folder, "node_modules/typescript/package.json")).find(existsSync)
  const onPath = local === undefined ? findProgram(["tsc"]) : undefined
  const manifest = local ?? (onPath ? join(dirname(realpathSync(onPath)), "../package.json") : undefined)
  if (manifest === undefined || !isSeven(manifest)) return undefined
  const args = ["--lsp", "--stdio"]
  const native = nativeProgram(manifest)
  return native ? [native, ...args] : [process.execPath, join(dirname(manifest), "bin/tsc"), ...args]
}

function nativeProgram(manifest: string): string | undefined {
  try {
    const name = `@typescript/typescript-${process.platform}-${process.arch}/package.json`
    const file = join(dirname(createRequire(realpathSync(manifest)).resolve(name)), "lib/tsc")
    return existsSync(file) ? file : undefined
  } catch {
    return undefined
  }
}

function isSeven(manifest: string): boolean {
  try {
    const { name, version } = JSON.parse(textOf(manifest) ?? "{}")
    return name === "typescript" && Number.parseInt(version, 10) >= 7
  } catch {
    return false
  }
}

/** The interpreter of a virtual environment knows the packages of the project. */
function pythonSettings(root: string): unknown {
  const python = [".venv", "venv"].map((name) => join(root, name, "bin/python")).find(existsSync)
  return python === undefined ? undefined : { python: { pythonPath: python } }
}

export function endingOf(path: string): string {
  return extname(path).toLowerCase()
}
