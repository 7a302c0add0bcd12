// Finds skills and the documents that they link to. Skills are found by words and by vectors of their descriptions,
// references by vectors of their link texts, in an index of their own. Unchanged files are not read or indexed again;
// deleted ones are removed.
import { resolve } from "node:path"
import type { Embedder } from "#knowledge/embedder/types.ts"
import { createIndex } from "#knowledge/index/create-index.ts"
import { readDocument, Unreadable } from "#knowledge/index/read-document.ts"
import type { Document, Hit, Index } from "#knowledge/index/types.ts"
import { type SkillCache, scanSkills } from "./scan-skills.ts"
import { createOverlap, fitOf, piecesOf, skillClaims } from "./skill-fit.ts"
import type { SkillInfo, SkillReference, SkillScript } from "./skill-types.ts"

export type SkillDiscoveryConfig = {
  /** Folders of skills; of equal names the first counts. */
  skillsRoot?: string | readonly string[]
  /** Loads the current skills; used instead of `skillsRoot`. */
  load?: () => Promise<readonly SkillInfo[]>
  /** Default: in memory. */
  dbPath?: string
  /** Without one, words alone decide. */
  embedder?: Embedder
}

/** `fit` can be compared between requests; `score` only orders the hits of one request. `shared`: how many words of the
 * request are in the skill's name or description. */
export type SkillMatch = {
  skill: SkillInfo
  fit: number
  shared: number
  score: number
  text?: Hit["text"]
  vector?: Hit["vector"]
}
export type ReferenceMatch = { reference: SkillReference; score: number }
export type SkillDiscovery = Readonly<{
  /** Scan the disk again. The first call of any other function does this too. */
  refresh(): Promise<void>
  /** The best fit first. */
  search(intent: string, options?: { limit?: number; minFit?: number }): Promise<SkillMatch[]>
  searchReferences(
    intent: string,
    options?: { limit?: number; skillName?: string; minScore?: number },
  ): Promise<ReferenceMatch[]>
  all(): SkillInfo[]
  getReferences(skillName: string): SkillReference[]
  getReferenceContent(reference: SkillReference): Promise<string>
  getScripts(skillName: string): SkillScript[]
  close(): void
}>

const candidates = 20
const maxReference = 256 << 10
const maxMore = 2_000

export function createSkillDiscovery(config: SkillDiscoveryConfig = {}): SkillDiscovery {
  const { embedder, dbPath } = config
  const load = config.load ?? createLoader(config.skillsRoot ?? [])
  const skillIndex = createIndex(indexConfig(dbPath, embedder))
  const referenceIndex = createIndex(indexConfig(dbPath && `${dbPath}-references`, embedder))
  let skills = new Map<string, SkillInfo>()
  let overlap = createOverlap([])
  let first: Promise<void> | undefined
  let work: Promise<unknown> = Promise.resolve()

  /** One at a time, so that an older scan never replaces a newer one. */
  function refresh(): Promise<void> {
    const done = work.then(rescan)
    first ??= done
    work = done.catch(() => {
      if (first === done) first = undefined
    })
    return done
  }

  async function rescan(): Promise<void> {
    const found = await load()
    const next = new Map<string, SkillInfo>()
    for (const skill of found) if (!next.has(skill.name)) next.set(skill.name, skill)
    const all = [...next.values()]
    await replaceAll(skillIndex, all.map(documentOf))
    await replaceAll(referenceIndex, all.flatMap(referenceDocuments))
    overlap = createOverlap(all)
    skills = next
  }

  async function search(
    intent: string,
    { limit = 5, minFit = 0 }: { limit?: number; minFit?: number } = {},
  ): Promise<SkillMatch[]> {
    await (first ?? refresh())
    const best = new Map<string, SkillMatch>()
    for (const piece of piecesOf(intent)) {
      const hits = await skillIndex.search(piece, { limit: candidates })
      const hasVectors = hits.some(({ vector }) => vector)
      for (const { id, score, text, vector } of hits) {
        const skill = skills.get(id)
        if (!skill) continue
        const cosine = hasVectors ? (vector?.score ?? 0) : undefined
        const { shared, ...rest } = overlap(piece, id)
        const fit = fitOf({ ...rest, cosine })
        if (fit < Math.max(minFit, best.get(id)?.fit ?? -1)) continue
        best.set(id, { skill, fit, shared, score, ...(text ? { text } : {}), ...(vector ? { vector } : {}) })
      }
    }
    return [...best.values()].sort((a, b) => b.fit - a.fit).slice(0, limit)
  }

  async function searchReferences(
    intent: string,
    { limit = 5, skillName, minScore }: { limit?: number; skillName?: string; minScore?: number } = {},
  ): Promise<ReferenceMatch[]> {
    await (first ?? refresh())
    const group = skillName === undefined ? {} : { group: skillName }
    const searchBy = (mode: "vector" | "text") => referenceIndex.search(intent, { limit, mode, ...group })
    const byVector = embedder ? await searchBy("vector") : []
    // Words decide if vectors find nothing, for example because the embedder failed.
    const hits = byVector.length ? byVector : await searchBy("text")
    const byId = new Map(
      [...skills.values()].flatMap(({ references }) => references.map((one) => [idOf(one), one] as const)),
    )
    return hits.flatMap(({ id, score }) => {
      const reference = byId.get(id)
      return reference && score >= (minScore ?? score) ? [{ reference, score }] : []
    })
  }

  async function getReferenceContent({ skill, file }: SkillReference): Promise<string> {
    const own = skills.get(skill)
    if (!own?.references.some((reference) => reference.file === file))
      throw new Unreadable(file, `no skill "${skill}" links to it`)
    const { text, size, isCut } = readDocument({ root: own.root, path: file, maxBytes: maxReference })
    return isCut ? `${text}\n[cut here: the file has ${size} bytes]` : text
  }

  return Object.freeze({
    refresh,
    search,
    searchReferences,
    all: () => [...skills.values()],
    getReferences: (skillName: string) => skills.get(skillName)?.references ?? [],
    getReferenceContent,
    getScripts: (skillName: string) => skills.get(skillName)?.scripts ?? [],
    close() {
      skillIndex.close()
      referenceIndex.close()
    },
  })
}

function createLoader(root: string | readonly string[]): () => Promise<SkillInfo[]> {
  const cache: SkillCache = new Map()
  const folders = typeof root === "string" ? [root] : root
  return async () => folders.flatMap((folder) => scanSkills(resolve(folder), { cache }).skills)
}

function indexConfig(path: string | undefined, embedder: Embedder | undefined) {
  return { ...(path ? { path } : {}), ...(embedder ? { embedder } : {}) }
}

async function replaceAll(index: Index, documents: Document[]): Promise<void> {
  const wanted = new Set(documents.map(({ id }) => id))
  index.remove(index.ids().filter((id) => !wanted.has(id)))
  await index.put(documents)
}

function documentOf({ name, description, metadata, body }: SkillInfo): Document {
  const headings = body.match(/^#{1,3} .+$/gm)?.join(" ") ?? ""
  const more = `${Object.values(metadata).join(" ")} ${headings} ${body}`.slice(0, maxMore)
  return { id: name, group: "", name, text: skillClaims(description), more }
}

function referenceDocuments({ references }: SkillInfo): Document[] {
  return references.map((reference) => ({
    id: idOf(reference),
    group: reference.skill,
    name: reference.displayText,
    text: "",
    more: reference.relativePath,
  }))
}

function idOf({ skill, file }: SkillReference): string {
  return `${skill}\n${file}`
}
