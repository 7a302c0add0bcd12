// The work of the tools `diagnostics`, `definition` and `references`.
import { relative } from "node:path"
import type { Context, Output } from "#ability/call/types.ts"
import { readInEditor } from "#ability/file/in-editor.ts"
import { openTarget } from "#ability/file/open-target.ts"
import { positionParams, readPlaces, type Server } from "#ability/lsp/server/create-server.ts"
import { lineAt, toIndex, toPosition } from "#ability/lsp/server/positions.ts"
import { Instance } from "#kernel/instance.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"
import { realOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { orAborted } from "#util/wait.ts"
import { findServers } from "./find-servers.ts"
import { findSymbol } from "./find-symbol.ts"
import { sayDiagnostics } from "./lsp.ts"
import type { Place } from "./lsp-tools.ts"
import * as Pool from "./pool.ts"

type File = { real: string; text: string | undefined }

const maxDiagnostics = 50
const maxPlaces = 200
const maxText = 160

class NoServer extends NamedError {
  constructor(path: string) {
    super("Lsp.NoServer", `There is no language server for ${JSON.stringify(path)}. Use grep or symbols.`, {
      path,
    })
  }
}

export async function diagnostics({ path }: Pick<Place, "path">, context: Context): Promise<Output> {
  return withServer(path, context, async ({ server, checker }, { real, text: unsaved }) => {
    const found = await checker.diagnose(real, unsaved)
    const text = sayDiagnostics(found, { server, context, most: maxDiagnostics, title: "" })
    return { text: text || "No errors or warnings.", title: `${path} (${found.length})` }
  })
}

export function definition(place: Place, context: Context): Promise<Output> {
  return findPlaces("textDocument/definition", place, context)
}

export function references(place: Place, context: Context): Promise<Output> {
  return findPlaces("textDocument/references", place, context)
}

/** Runs work with the first server of a file that can be used. */
export async function withServer<T>(
  path: string,
  context: Context,
  work: (running: Pool.Running, file: File) => Promise<T>,
): Promise<T> {
  const file = await readTarget(path, context)
  const [candidate] = isInside(Instance.worktree, file.real) ? await findServers(file.real) : []
  if (!candidate) throw new NoServer(path)
  return orAborted(
    Pool.run(candidate, (running) => work(running, file)),
    context.signal,
  )
}

/** `text`: that of the person's editor, which may not be saved. */
async function readTarget(path: string, context: Context): Promise<File> {
  await using target = await openTarget(path, context)
  if (target.isDirectory)
    throw new NamedError("Tool.NotAFile", `${JSON.stringify(path)} is a folder; path must name a file.`, {
      path,
    })
  return { real: target.places[1], text: (await readInEditor(target, context))?.toString("utf8") }
}

function findPlaces(method: string, place: Place, context: Context): Promise<Output> {
  return withServer(place.path, context, async ({ server, checker }, { real, text }) => {
    const found = await checker.ask(async () => {
      if (text !== undefined) server.documents.set(real, text)
      const { position } = findSymbol(server, { ...place, real })
      const params = { ...positionParams(real, position), context: { includeDeclaration: true } }
      return readPlaces(await server.request(method, params))
    })
    const lines = found
      .slice(0, maxPlaces)
      .flatMap(({ path, range }) => sayPlace(server, path, range.start, context))
    const more = found.length - Math.min(found.length, maxPlaces)
    const hidden = Math.min(found.length, maxPlaces) - lines.length
    const notes = [
      ...(more > 0 ? [`[${more} more]`] : []),
      ...(hidden > 0 ? [`[${hidden} in files that may not be read]`] : []),
    ]
    return {
      text: [...(lines.length ? lines : ["Nothing found."]), ...notes].join("\n"),
      title: `${place.symbol} (${found.length})`,
    }
  })
}

/** `src/a.ts:3:5 const a = 1`. Of files outside the work tree only the place is shown, of those that may not be read nothing. */
function sayPlace(
  { documents, encoding }: Server,
  path: string,
  at: { line: number; character: number },
  { judge }: Context,
): string[] {
  const real = realOf(path)
  const isOwn = isInside(Instance.worktree, path) && real !== undefined && isInside(Instance.worktree, real)
  if (!isOwn) return [`${path}:${Math.max(0, at.line) + 1}:${Math.max(0, at.character) + 1}`]
  const mayRead = [path, real].every(
    (target) => (judge?.({ permission: "file.read", target }) ?? "allow") === "allow",
  )
  const lines = mayRead ? documents.lines(path) : undefined
  if (!lines) return []
  const { line, character } = toPosition(lines, toIndex(lines, at, encoding), "utf-16")
  const text = Secret.cut(lineAt(lines, line).trim(), maxText)
  return [`${relative(Instance.directory, path)}:${line + 1}:${character + 1} ${text}`]
}
