// Keys of records, and what can go wrong with a record, each error with the key or path that it is about.
import { inspect } from "node:util"
import * as Global from "#kernel/process/global.ts"
import { NamedError } from "#util/error.ts"

export type Key = readonly string[]

export class NotFound extends NamedError {
  constructor(key: Key) {
    super("Storage.NotFound", `There is no record ${key.join("/")}`, { key })
  }
}

export class InvalidKey extends NamedError {
  constructor(key: unknown, reason: string) {
    super("Storage.InvalidKey", `Key ${inspect(key, shown)} is refused: ${reason}`, { key })
  }
}

export class InvalidData extends NamedError {
  constructor(key: Key, reason: string) {
    super("Storage.InvalidData", `Record ${key.join("/")} cannot be stored: ${reason}`, { key })
  }
}

export class Corrupt extends NamedError {
  readonly reason: string

  constructor(key: Key, reason: string, movedTo: string | undefined) {
    const place = movedTo ? `it was quarantined as ${movedTo}` : "it was left where it is"
    super("Storage.Corrupt", `Record ${key.join("/")} is broken (${reason}); ${place}`, { key, movedTo })
    this.reason = reason
  }
}

export class Locked extends NamedError {
  constructor(path: string, seconds: number, pid: number | undefined) {
    const holder = pid ? `process ${pid}` : "another process"
    super(
      "Storage.Locked",
      `${holder} holds ${path} and did not release it for ${seconds} s; nothing was written`,
      {
        path,
        pid,
      },
    )
  }
}

export class WriteFailed extends NamedError {
  /** `place`: where, if it is not the data folder. */
  constructor(what: string, cause: unknown, place?: string) {
    const code = (cause as NodeJS.ErrnoException)?.code
    const hint = hints[code ?? ""] ?? String((cause as Error)?.message ?? cause)
    const advice = aboutFolder.has(code ?? "")
      ? `. The data folder is ${Global.data()}: make it writable, or set VITAMIN_DATA_DIR to another one`
      : ""
    super(
      "Storage.WriteFailed",
      `${what} could not be written${place ? ` to ${place}` : ""}: ${hint}; the old value stays${advice}`,
      { what, code },
      { cause },
    )
  }
}

/** Keys become paths below the storage folder and cannot leave it. */
export function pathOf(key: Key): string {
  if (!Array.isArray(key) || key.length === 0) throw new InvalidKey(key, "it needs at least one part")
  for (const part of key) {
    if (typeof part !== "string" || part === "")
      throw new InvalidKey(key, "every part is a string that is not empty")
    if (/[/\\\u0000-\u001f\u007f]/.test(part))
      throw new InvalidKey(key, "a part has a separator or control character")
    if (part.startsWith(".")) throw new InvalidKey(key, "a part starts with a dot")
    if (part.endsWith(".json")) throw new InvalidKey(key, 'a part ends in ".json"')
    if (Buffer.byteLength(part) > 200) throw new InvalidKey(key, "a part is longer than 200 bytes")
    if (!part.isWellFormed()) throw new InvalidKey(key, "a part is not well-formed Unicode")
  }
  return key.join("/")
}

const shown = { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxArrayLength: 20, maxStringLength: 300 }

const aboutFolder = new Set(["EROFS", "EACCES", "EPERM", "ENOENT", "ENOTDIR"])

const hints: Record<string, string> = {
  ENOSPC: "the disk is full (ENOSPC)",
  EDQUOT: "the disk quota is used up (EDQUOT)",
  EROFS: "the file system is read-only (EROFS)",
  EACCES: "the folder does not allow it (EACCES)",
  EPERM: "the folder does not allow it (EPERM)",
  ENOENT: "the folder cannot be made (ENOENT)",
  ENOTDIR: "the folder cannot be made (ENOTDIR)",
  EMFILE: "this process has too many files open (EMFILE)",
  ENFILE: "the system has too many files open (ENFILE)",
  EIO: "the disk reported an error (EIO)",
}

export function splitPath(path: string): [parent: string, name: string] {
  const at = path.lastIndexOf("/")
  return [path.slice(0, Math.max(at, 0)), path.slice(at + 1)]
}

export function joinPath(parent: string, name: string): string {
  return parent === "" ? name : `${parent}/${name}`
}
