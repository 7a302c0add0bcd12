// The permission bits and hard links of files that are clean in git, whose index knows only whether a file is executable.
// They are read once for each version of the index. A file that is still clean against that version has the
// same inode change time, so nobody has changed its mode or its links since. Git compares that time in whole seconds:
// younger files are checked every time.
import { lstatSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { z } from "zod"
import type { FileModes, Shadow } from "#ability/snapshot/store/shadow.ts"
import { createId } from "#util/id.ts"

const Table = z.object({
  version: z.string(),
  usual: z.tuple([z.number(), z.number()]),
  others: z.record(z.string(), z.number()),
  links: z.record(z.string(), z.string()),
  young: z.array(z.string()),
}) satisfies z.ZodType<FileModes>

/** `inode` only for a file with hard links, as text, because it may exceed the safe integers. */
type File = { mode: number; ctimeMs: number; inode?: string }

/** After this many files, other work of the process may continue. */
const atOnce = 1_000
/** A second, and what the clock of a file system may be behind ours. */
const youngFor = 1_500

/** `names` lists the files that git knows; it is called only if the table must be made. */
export async function fileModes(
  shadow: Shadow,
  index: string,
  names: () => Promise<readonly string[]>,
): Promise<FileModes> {
  const version = versionOf(shadow, index)
  const known = loadModes(shadow, index, version)
  if (known && !known.young.length) return known
  const table = known ? checkYoung(shadow, known) : await readModes(shadow, await names(), version)
  const aside = join(shadow.folder, createId("tmp"))
  writeFileSync(aside, JSON.stringify(table), { mode: 0o600 })
  renameSync(aside, fileOf(shadow, index))
  shadow.modes = table
  return table
}

/** The table of that version, if it is still there. */
export function loadModes(
  shadow: Shadow,
  index: string | undefined,
  version: string | undefined,
): FileModes | undefined {
  if (index === undefined || version === undefined) return undefined
  if (shadow.modes?.version === version) return shadow.modes
  try {
    const table = Table.parse(JSON.parse(readFileSync(fileOf(shadow, index), "utf8")))
    if (table.version !== version) return undefined
    shadow.modes = table
    return table
  } catch {
    return undefined
  }
}

export function modeIn({ usual, others }: FileModes, path: string, isProgram: boolean): number {
  return Object.hasOwn(others, path) ? others[path]! : usual[isProgram ? 1 : 0]
}

/** Changes when git rewrites our copy of the index, after which other files may be clean. */
export function versionOf({ folder }: Shadow, index: string): string {
  const { ino, mtimeNs, size } = statSync(join(folder, index), { bigint: true })
  return `${index}:${ino}:${size}:${mtimeNs}`
}

async function readModes({ root }: Shadow, names: readonly string[], version: string): Promise<FileModes> {
  const modes = new Map<string, number>()
  const links: FileModes["links"] = Object.create(null)
  const young: string[] = []
  for (const [i, name] of names.entries()) {
    if (i % atOnce === atOnce - 1) await setImmediate()
    const file = fileAt(`${root}/${name}`)
    if (!file) continue
    modes.set(name, file.mode)
    if (file.inode) links[name] = file.inode
    if (isYoung(file)) young.push(name)
  }
  const usual: FileModes["usual"] = [mostCommon(modes, false), mostCommon(modes, true)]
  const others: FileModes["others"] = Object.create(null)
  for (const [name, mode] of modes) if (mode !== usual[isProgram(mode) ? 1 : 0]) others[name] = mode
  return { version, usual, others, links, young }
}

/** Young files may have changed without git noticing. */
function checkYoung({ root }: Shadow, { young, others, links, ...table }: FileModes): FileModes {
  const next: FileModes = { ...table, others: { ...others }, links: { ...links }, young: [] }
  for (const name of young) {
    const file = fileAt(`${root}/${name}`)
    if (!file) continue
    next.others[name] = file.mode
    if (file.inode) next.links[name] = file.inode
    else delete next.links[name]
    if (isYoung(file)) next.young.push(name)
  }
  return next
}

function isYoung({ ctimeMs }: File): boolean {
  return ctimeMs > Date.now() - youngFor
}

function mostCommon(modes: Map<string, number>, programs: boolean): number {
  const counts = new Map<number, number>()
  for (const mode of modes.values())
    if (isProgram(mode) === programs) counts.set(mode, (counts.get(mode) ?? 0) + 1)
  const [first] = [...counts].sort((a, b) => b[1] - a[1])
  return first?.[0] ?? (programs ? 0o755 : 0o644)
}

function isProgram(mode: number): boolean {
  return (mode & 0o100) !== 0
}

/** Plain numbers: for all files of a large work tree they take a quarter less time than bigints. */
function fileAt(path: string): File | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (!stat?.isFile()) return undefined
    const file = { mode: stat.mode & 0o7777, ctimeMs: stat.ctimeMs }
    return stat.nlink > 1 ? { ...file, inode: String(lstatSync(path, { bigint: true }).ino) } : file
  } catch {
    return undefined
  }
}

function fileOf({ folder }: Shadow, index: string): string {
  return join(folder, `${index}.modes`)
}
