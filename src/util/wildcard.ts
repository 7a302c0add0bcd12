// Patterns with stars. In text, "*" matches anything; in paths it stays within a segment, and "**" crosses segments. All else
// is literal. Compiled patterns are cached, up to a limit.
import { posix } from "node:path"

type Test<T> = (value: T) => boolean

const maxKept = 2_000
const texts = new Map<string, Test<string>>()
const paths = new Map<string, Test<Path>>()

/** A path made ready for many patterns. */
export type Path = { isAbsolute: boolean; segments: string[] }

/** Whether the whole text matches. A star also matches blanks, slashes and line ends. */
export function fitsText(pattern: string, text: string): boolean {
  return hasWildcard(pattern) ? kept(texts, pattern, compileText)(text) : text === pattern
}

export function fitsAnyText(pattern: string, all: Iterable<string>): boolean {
  const fits = kept(texts, pattern, compileText)
  for (const text of all) if (fits(text)) return true
  return false
}

/** Relative paths are taken from `base`; without one they stay relative. */
export function readPath(path: string, base?: string): Path {
  const whole = base === undefined ? posix.normalize(path) : posix.resolve(base, path)
  const segments = whole.split("/").filter((segment) => segment !== "" && segment !== ".")
  return { isAbsolute: posix.isAbsolute(whole), segments }
}

/** Whether a path matches. A path that begins with ".." matches no relative pattern. A pattern that ends with "/" or "/**"
 * means the folder and all that is below it. */
export function fitsPath(pattern: string, path: Path, base?: string): boolean {
  return kept(paths, base === undefined ? pattern : `${base}\0${pattern}`, () => compilePath(pattern, base))(
    path,
  )
}

export function hasWildcard(pattern: string): boolean {
  return pattern.includes("*")
}

/** Whether the items match the parts of a pattern in order. A star takes as few items as possible; only the last star ever
 * has to take more. */
export function fitsAll<P, T>(
  pattern: P[],
  items: ArrayLike<T>,
  isStar: (part: P) => boolean,
  fits: (part: P, item: T) => boolean,
): boolean {
  let [p, i, star, taken] = [0, 0, -1, 0]
  while (i < items.length) {
    if (p < pattern.length && isStar(pattern[p]!)) {
      star = p++
      taken = i
    } else if (p < pattern.length && fits(pattern[p]!, items[i]!)) {
      p++
      i++
    } else if (star >= 0) {
      p = star + 1
      i = ++taken
    } else return false
  }
  while (p < pattern.length && isStar(pattern[p]!)) p++
  return p === pattern.length
}

function kept<T>(cache: Map<string, Test<T>>, key: string, compile: (key: string) => Test<T>): Test<T> {
  let test = cache.get(key)
  if (test) return test
  if (cache.size >= maxKept) cache.clear()
  test = compile(key)
  cache.set(key, test)
  return test
}

/** Finds the literal pieces in order, each as early as possible, so that there is no backtracking. */
function compileText(pattern: string): Test<string> {
  const [first = "", ...rest] = pattern.split("*")
  const last = rest.pop()
  if (last === undefined) return (text) => text === pattern
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
      return false
    const end = text.length - last.length
    let at = first.length
    for (const piece of rest) {
      const found = text.indexOf(piece, at)
      if (found < 0 || found + piece.length > end) return false
      at = found + piece.length
    }
    return true
  }
}

function compilePath(pattern: string, base: string | undefined): Test<Path> {
  const { isAbsolute, segments } = readPath(pattern.endsWith("/") ? `${pattern}**` : pattern, base)
  const tests = segments.map((segment) => (segment === "**" ? undefined : compileText(segment)))
  const isAny = (test: Test<string> | undefined) => test === undefined
  const fits = (test: Test<string> | undefined, segment: string) => test!(segment)
  return (path) =>
    path.isAbsolute === isAbsolute && path.segments[0] !== ".." && fitsAll(tests, path.segments, isAny, fits)
}
