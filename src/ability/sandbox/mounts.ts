// The file system of a boundary as arguments for bubblewrap: everything read-only, some folders fresh, writable folders
// as they are, what decides what runs later read-only in them, and hidden paths empty.
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import * as Global from "#kernel/process/global.ts"
import { realOf, statOf } from "#util/file/path-info.ts"
import { isInside } from "#util/file/resolve-inside.ts"
import { userFor } from "./machine.ts"
import { NotIsolated, type Policy, placeOf } from "./policy.ts"
import { type Missing, type Place, protectedPlaces } from "./protected-places.ts"

/** In ascending priority for one path. */
const kinds = ["fresh", "write", "read", "empty", "hide"] as const
type Mount = { path: string; kind: (typeof kinds)[number] }

const base = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
/** Sockets of the desktop, of containers and of other programs are here, and files of other programs. */
const fresh = ["/tmp", "/run", "/dev/shm"]
/** Of `/run`, for NixOS: its programs. */
const running = ["/run/current-system"]
const megabyte = 1 << 20
/** The size of the fresh folders, in megabytes, if the memory has no limit. They are in memory. */
const freshSize = 2_048
/** SO_ACCEPTCON in /proc/net/unix: a socket that takes connections. */
const listens = "00010000"

export type FileSystem = {
  args: string[]
  /** Come after all other mounts. */
  closing: string[]
  /** Mounts that are not read-only: folders of this machine, fresh and empty ones. */
  writable: string[]
  /** Only those of this machine. */
  shared: string[]
  /** Protected paths. */
  places: string[]
  /** Protected and hidden files and folders, which must not be replaced from outside. */
  fixed: string[]
  /** Those that do not exist, and must be created before the start. */
  missing: Missing[]
}

export function fileSystemFor(policy: Policy): FileSystem {
  const writable = [...new Set(policy.allowWrite.map((path) => writablePlace(path, policy.directory)))]
  const folders = writable.filter((path) => statSync(path).isDirectory()).map(protectedPlaces)
  const hidden = [
    ...policy.denyRead.map((path) => placeOf(path, policy.directory)),
    ...ownFolders(writable),
    ...listeningSockets(userFor(policy.directory).drop?.uid ?? 0),
  ]
  const outer: Mount[] = [
    ...fresh.map((path): Mount => ({ path, kind: "fresh" })),
    ...writable.map((path): Mount => ({ path, kind: "write" })),
    ...[...new Set(hidden)].filter((path) => existsSync(path)).map((path): Mount => ({ path, kind: "hide" })),
  ]
  const readable = [process.execPath, ownPackage(), policy.directory, ...running, ...(policy.show ?? [])]
  const shown = readable.flatMap((path): Mount[] => {
    const real = realOf(path)
    return real && !outer.some(({ path }) => path === real) && !isVisible(nearest(outer, real))
      ? [{ path: real, kind: "read" }]
      : []
  })
  const inner = folders.flatMap(({ places }) => places.map(toMount))
  const around = [...outer, ...shown]
  // Nothing has to be hidden or protected in a folder that is replaced anyway.
  const needed = [...around, ...inner].filter(
    ({ kind, path }) =>
      kind === "write" ||
      kind === "fresh" ||
      shown.some((one) => one.path === path) ||
      isVisible(nearest(around, path)),
  )
  const mounts = inOrder(needed)
  const changing = mounts.filter(
    ({ path, kind }) => kind === "write" || kind === "empty" || (kind === "fresh" && path !== "/run"),
  )
  return {
    args: [...base, ...mounts.flatMap((mount) => argsFor(mount, policy))],
    closing: ["/dev", "/run", "/proc", ...mounts.filter(isHiddenFolder).map(({ path }) => path)].flatMap(
      (path) => ["--remount-ro", path],
    ),
    writable: changing.map(({ path }) => path),
    shared: writable,
    places: inner.map(({ path }) => path),
    fixed: mounts
      .filter(({ path, kind }) => (kind === "read" || kind === "hide") && !isSocket(path))
      .map(({ path }) => path),
    missing: folders.flatMap(({ missing }) => missing),
  }
}

function toMount({ path, mode }: Place): Mount {
  return { path, kind: mode }
}

/** Outer folders first; of two for one path, the stricter one last. */
function inOrder(mounts: Mount[]): Mount[] {
  const depth = (path: string) => path.split("/").length
  return [...new Map(mounts.map((mount) => [`${mount.kind} ${mount.path}`, mount])).values()].sort(
    (a, b) => depth(a.path) - depth(b.path) || kinds.indexOf(a.kind) - kinds.indexOf(b.kind),
  )
}

function argsFor(mount: Mount, { memory = freshSize }: Policy): string[] {
  const { path, kind } = mount
  if (kind === "write") return ["--bind", path, path]
  if (kind === "read") return ["--ro-bind", path, path]
  // Cheaper than a mount of the folder itself. Its owner could open it, but what is written there vanishes.
  if (kind === "empty") return ["--perms", "0555", "--size", "4096", "--tmpfs", path]
  if (kind === "fresh")
    return [
      "--perms",
      path === "/run" ? "0755" : "1777",
      "--size",
      String(memory * megabyte),
      "--tmpfs",
      path,
    ]
  if (isHiddenFolder(mount)) return ["--perms", "0755", "--size", String(megabyte), "--tmpfs", path]
  return ["--ro-bind", "/dev/null", path]
}

function isSocket(path: string): boolean {
  return statOf(path)?.isSocket() === true
}

function isHiddenFolder({ path, kind }: Mount): boolean {
  return kind === "hide" && statOf(path)?.isDirectory() === true
}

function writablePlace(path: string, directory: string): string {
  const place = placeOf(path, directory)
  const isInMemory = place !== "/dev/shm" && isInside("/dev/shm", place)
  if (place === "/" || (!isInMemory && ["/proc", "/sys", "/dev"].some((root) => isInside(root, place))))
    throw new NotIsolated(`${place} cannot be writable; name a folder of your own.`)
  if (!existsSync(place)) mkdirSync(place, { recursive: true })
  return realOf(place) ?? place
}

/** A missing one in a writable folder is created, because a program inside could create it otherwise. The state folder
 * has the record of this boundary. */
function ownFolders(writable: string[]): string[] {
  return [Global.state(), Global.data(), Global.config(), Global.cache()].map((path, i) => {
    const place = placeOf(path, "/")
    if (!existsSync(place) && (i === 0 || writable.some((folder) => isInside(folder, place))))
      mkdirSync(place, { recursive: true, mode: 0o700 })
    return place
  })
}

/** The folder of this program, which must stay readable wherever it is. Copied alone, it has no package around it. */
function ownPackage(): string {
  for (let folder = import.meta.dirname; folder !== dirname(folder); folder = dirname(folder))
    if (existsSync(join(folder, "package.json"))) return folder
  return import.meta.dirname
}

/** Sockets in the file system, outside of the fresh folders: being read-only does not stop a connection. */
function listeningSockets(uid: number): string[] {
  const lines = readFileSync("/proc/net/unix", "utf8").split("\n")
  return lines.flatMap((line) => {
    const [, flags, path] = /^\S+ \S+ \S+ (\S+) \S+ \S+ +\d+ (\/.*)$/.exec(line) ?? []
    const real = flags === listens ? realOf(path!) : undefined
    return real && canEnter(dirname(real), uid) ? [real] : []
  })
}

/** Inside, root has no more rights than others: a socket in a private folder of another user cannot be reached, and nothing
 * can be mounted over it. Other users do not see such a socket. */
function canEnter(folder: string, uid: number): boolean {
  if (process.getuid?.() !== 0 || folder === "/") return true
  const stat = statOf(folder)
  const mask = stat?.uid === uid ? 0o111 : 0o011
  return ((stat?.mode ?? 0) & mask) !== 0 && canEnter(dirname(folder), uid)
}

/** The innermost mount around a path, other than its own. */
function nearest(mounts: Mount[], path: string): Mount | undefined {
  const around = mounts.filter((mount) => mount.path !== path && isInside(mount.path, path))
  return around.sort(
    (a, b) => b.path.length - a.path.length || kinds.indexOf(b.kind) - kinds.indexOf(a.kind),
  )[0]
}

function isVisible(mount: Mount | undefined): boolean {
  return mount === undefined || mount.kind === "write" || mount.kind === "read"
}
