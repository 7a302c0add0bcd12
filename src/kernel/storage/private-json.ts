// Secrets by name, as JSON in a private file of the data folder. A lock serialises updates of all processes, so that
// none is lost.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import * as Global from "#kernel/process/global.ts"
import * as PrivateFile from "#kernel/process/private-file.ts"
import { createLock } from "./lock.ts"

type Options = {
  /** File name without its extension. */
  name: string
  isEntry: (value: unknown) => boolean
  /** Creates the error for a file that is unsafe or invalid. */
  refuse: (file: string, reason: string) => Error
}

export function createPrivateJson<T>({ name, isEntry, refuse }: Options) {
  const place = () => join(Global.data(), `${name}.json`)

  function read(): Record<string, T> {
    const file = place()
    const text = PrivateFile.read(file, (reason) => refuse(file, reason))
    return text === undefined ? {} : parse(text, file)
  }

  async function update(change: (stored: Record<string, T>) => Record<string, T>): Promise<void> {
    mkdirSync(Global.data(), { recursive: true, mode: 0o700 })
    const lock = await createLock(join(Global.data(), `${name}.lock`))
    try {
      await lock.acquire()
      try {
        PrivateFile.write(place(), `${JSON.stringify(change(read()), null, 2)}\n`, { replace: true })
      } finally {
        lock.release()
      }
    } finally {
      lock.close()
    }
  }

  function parse(text: string, file: string): Record<string, T> {
    try {
      const value: unknown = JSON.parse(text)
      if (typeof value === "object" && value !== null && Object.values(value).every(isEntry))
        return value as Record<string, T>
    } catch {
      // The message of JSON.parse quotes the file, which has secrets in it.
    }
    throw refuse(file, "it is not the JSON that vitamin wrote")
  }

  return Object.freeze({ read, update })
}
