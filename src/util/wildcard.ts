// Patterns with stars. In text "*" is anything; in paths it stays within a segment and "**" goes across. All else is
// literal. What was compiled is kept, as long as it is not too much.
import { posix } from "node:path"

type Test<T> = (value: T) => boolean

const maxKept = 2_000
const texts = new Map<string, Test<string>>()
const paths = new Map<string, Test<Path>>()

/** A path made ready for many patterns. */
export type Path = { isAbsolute: boolean; segments: string[] }

/** Whether the whole of `text` fits; a star takes blanks, slashes and line ends too. */
export function fitsText(pattern: string, text: string): boolean {
  return kept(texts, pattern, compileText)(text)
}

/** Relative paths are taken from `base`; without one they stay relative. */
export function readPath(path: string, base?: string): Path {
  const whole = base === undefined ? posix.normalize(path) : posix.resolve(base, path)
  const segments = whole.split("/").filter((segment) => segment !== "" && segment !== ".")
  return { isAbsolute: posix.isAbsolute(whole), segments }
}

/** Whether a path fits; one that leaves where it starts from fits no relative pattern. A pattern that ends with "/" or
 * "/**" means the folder and all that is below it. */
export function fitsPath(pattern: string, path: Path, base?: string): boolean {
  return kept(paths, base === undefined ? pattern : `${base}\0${pattern}`, () => compilePath(pattern, base))(
    path,
  )
}

export function hasWildcard(pattern: string): boolean {
  return pattern.includes("*")
}

/** Whether the items fit the parts of a pattern one by one. A star takes any number of items, as few as it can; only the
 * last star ever has to take more. */
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

/** Literal pieces in their order, each as early as it can be: no way back is ever needed. */
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
