// Checks that vitamin's folders are writable by writing and removing a byte. Permission bits alone do not show that a
// disk is full or mounted read-only.
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as Global from "#kernel/process/global.ts"
import { errorText } from "#util/error.ts"
import { createId } from "#util/id.ts"
import type { Finding } from "./doctor.ts"

export async function checkFolders(): Promise<Finding[]> {
  const all = [
    ["data", Global.data(), "VITAMIN_DATA_DIR"],
    ["config", Global.config(), "XDG_CONFIG_HOME"],
    ["state", Global.state(), "XDG_STATE_HOME"],
    ["cache", Global.cache(), "XDG_CACHE_HOME"],
  ] as const
  return all.map(([name, path, variable]): Finding => {
    const about = `${name} folder`
    try {
      writeByte(existing(path))
      return { state: "ok", about, text: path }
    } catch (error) {
      const todo = `make ${path} writable, or set ${variable} to another folder`
      return { state: "bad", about, text: errorText(error), todo }
    }
  })
}

/** The folder itself is created at its first use. */
function existing(path: string): string {
  return existsSync(path) ? path : existing(dirname(path))
}

function writeByte(folder: string): void {
  if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`)
  const file = join(folder, `.${createId("tmp")}`)
  try {
    writeFileSync(file, "x", { flag: "wx", mode: 0o600 })
  } finally {
    rmSync(file, { force: true })
  }
}
