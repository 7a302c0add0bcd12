// Holds one parsed file against all rules, and describes its structure.
import { dirname, join, resolve } from "node:path"
import { isInside } from "#util/file/resolve-inside.ts"
import type { FileReport } from "./analysis.ts"
import { createReporter } from "./create-reporter.ts"
import { hole } from "./parse/html.ts"
import type { PageFacts } from "./parse/page-facts.ts"
import type { Markup, Parsed } from "./parse-file.ts"
import { checkAccessibility } from "./rule/accessibility.ts"
import { checkImports } from "./rule/imports.ts"
import { checkObsolete, checkSheets } from "./rule/styles.ts"
import { checkTokens } from "./rule/tokens.ts"
import { checkStructure } from "./structure/constraints.ts"
import { structureOf } from "./structure/structure.ts"
import type { Report } from "./term/finding.ts"
import { addStructure, emptyStructure, type Structure, terms } from "./term/vocabulary.ts"

type Project = {
  root: string
  get: (path: string, isWhole?: boolean) => Parsed
  /** Custom properties that are defined somewhere. */
  tokens: ReadonlySet<string>
}

/** A report lists at most so many items of each term. */
const maxItems = 1_000

export function checkFile(parsed: Parsed, project: Project): FileReport {
  const { file, text, markups, sheets } = parsed
  const { report, findings } = createReporter(file, text)
  checkCode(parsed, project, report)
  const facts = factsOf(parsed, project)
  const hasId = knownIds(markups, facts)
  const structure = emptyStructure()
  for (const { document, component, at, inner } of markups) {
    checkAccessibility({ document, hasId, isInner: (at) => isIn(inner, at), report })
    checkObsolete(document, report)
    const found = structureOf({ document, component, at, facts, source: text })
    checkStructure(found, hasId, report)
    addStructure(structure, found)
  }
  for (const sheet of sheets) checkTokens(sheet, project.tokens, report)
  checkSheets(sheets, report)
  const all = [...parsed.findings, ...findings].sort((a, b) => a.line - b.line || a.column - b.column)
  return { file, ...limited(structure), findings: all }
}

function limited(structure: Structure): Pick<FileReport, "structure" | "counts"> {
  const entries = terms.map((term) => [term, structure[term]] as const)
  return {
    structure: Object.fromEntries(
      entries.map(([term, items]) => [term, items.slice(0, maxItems)]),
    ) as Structure,
    counts: Object.fromEntries(entries.map(([term, items]) => [term, items.length])) as FileReport["counts"],
  }
}

function checkCode(parsed: Parsed, { root, get }: Project, report: Report): void {
  const read = (path: string) => get(path, true).scripts[0]
  const place = { root, file: parsed.path, isPage: parsed.kind === "html", read, report }
  for (const script of parsed.scripts) checkImports(script, place)
  const imports = parsed.linked.map(({ source, at }) => ({
    source: /^(\.{0,2}\/|[a-z]+:)/i.test(source) ? source : `./${source}`,
    at,
    names: [],
    isType: false,
  }))
  for (const one of imports) checkImports({ ...empty, imports: [one] }, place)
}

/** Collects what the code of the file does to the page, with the code that it imports for its effects. */
function factsOf(parsed: Parsed, { root, get }: Project): PageFacts {
  const sources = [
    ...parsed.linked.map(({ source }) => source),
    ...parsed.scripts.flatMap(({ imports }) =>
      imports.flatMap(({ source, names }) => (names.length ? [] : source)),
    ),
  ]
  const paths = sources.map((source) =>
    source.startsWith("/") ? join(root, source) : resolve(dirname(parsed.path), source),
  )
  const linked = paths.filter((path) => isInside(root, path)).flatMap((path) => get(path, true).scripts)
  const all = [...parsed.scripts, ...linked].map(({ facts }) => facts)
  // Code from elsewhere may do anything.
  const isUnknown = sources.some((source) => !/^(\.{0,2}\/|[\w-]+\.)/.test(source))
  return {
    selectors: new Set(all.flatMap(({ selectors }) => [...selectors])),
    declared: new Set(all.flatMap(({ declared }) => [...declared])),
    tokens: new Set(),
    listensToAny: isUnknown || all.some(({ listensToAny }) => listensToAny),
    changesPage: isUnknown || all.some(({ changesPage }) => changesPage),
  }
}

const empty = {
  exports: new Set<string>(),
  exportsMore: false,
  used: new Set<string>(),
  regions: [],
  facts: {} as PageFacts,
}

/** Returns a test for ids that the page may have: the file has the id, or makes ids that are not known. */
function knownIds(markups: readonly Markup[], { changesPage }: PageFacts): (id: string) => boolean {
  const ids = new Set<string>()
  let isOpen = false
  for (const { document } of markups)
    for (const element of document.elements) {
      const id = element.attributes.get("id")?.value
      if (id?.includes(hole) || element.isOpenEnded) isOpen = true
      if (id) ids.add(id)
    }
  // Code that changes a fragment may add elements to it.
  const isFragment = markups.every(({ document }) => !document.isPage)
  return (id) => isOpen || ids.has(id) || (changesPage && isFragment)
}

function isIn(ranges: readonly [number, number][], at: number): boolean {
  let [low, high] = [0, ranges.length - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    const [from, to] = ranges[middle]!
    if (at < from) high = middle - 1
    else if (at >= to) low = middle + 1
    else return true
  }
  return false
}
