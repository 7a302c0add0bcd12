// The position of a symbol, by its name and its line. Models count lines well, but not columns.
import type { Server } from "#ability/lsp/server/create-server.ts"
import { type Lines, lineAt, type Position, toPosition } from "#ability/lsp/server/positions.ts"
import { NamedError } from "#util/error.ts"

class NotThere extends NamedError {
  constructor(symbol: string, path: string, line: number, lines: number[]) {
    const where = lines.length ? ` It is in ${lines.length > 1 ? "lines" : "line"} ${lines.join(", ")}.` : ""
    super(
      "Lsp.NotThere",
      `Line ${line} of ${JSON.stringify(path)} has no ${JSON.stringify(symbol)}.${where}`,
      {
        ...{ symbol, path, line },
      },
    )
  }
}

const maxNamed = 10

/** `name` is the last part of a symbol such as `user.name`. Opens the file in the server. */
export function findSymbol(
  { documents, encoding }: Server,
  place: { path: string; real: string; line: number; symbol: string },
): { position: Position; name: string; lines: Lines } {
  const { path, real, line, symbol } = place
  const lines = documents.open(real) ? documents.lines(real) : undefined
  if (!lines)
    throw new NamedError("Lsp.TooLarge", `${JSON.stringify(path)} is too large for a language server.`, {
      path,
    })
  const name = /[\w$]+$/u.exec(symbol)?.[0] ?? symbol
  const columnIn = (index: number) => {
    const column = wordIn(lineAt(lines, index), symbol)
    return column < 0 ? -1 : column + symbol.length - name.length
  }
  const column = columnIn(line - 1)
  if (column < 0) {
    const others = lines.starts.flatMap((_, index) => (columnIn(index) < 0 ? [] : [index + 1]))
    throw new NotThere(symbol, path, line, others.slice(0, maxNamed))
  }
  return { position: toPosition(lines, lines.starts[line - 1]! + column, encoding), name, lines }
}

/** As a whole word if possible. */
function wordIn(line: string, symbol: string): number {
  const whole = new RegExp(`(?<![\\p{L}\\p{N}_$])${RegExp.escape(symbol)}(?![\\p{L}\\p{N}_$])`, "u").exec(
    line,
  )
  return whole?.index ?? line.indexOf(symbol)
}
