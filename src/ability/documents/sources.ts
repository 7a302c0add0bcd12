// The folders of documents of a project, and the folder of its recorded knowledge. People can read and edit both.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { Instance } from "#kernel/instance.ts"
import * as Global from "#kernel/process/global.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText, isMissing } from "#util/error.ts"
import { replaceFile } from "#util/file/write-file.ts"

const Sources = z.array(z.string().startsWith("/"))

/** Notes that `save_knowledge` writes. */
export function knowledgeFolder(): string {
  return join(Global.data(), "knowledge", Instance.project.id)
}

/** Real paths. Read at once, because the permissions of a search depend on them. */
export function list(): string[] {
  try {
    return Sources.parse(JSON.parse(readFileSync(file(), "utf8")))
  } catch (error) {
    if (!isMissing(error))
      Log.warn("the list of document folders cannot be read", { file: file(), error: errorText(error) })
    return []
  }
}

export async function add(folder: string): Promise<void> {
  await replaceFile(file(), `${JSON.stringify([...new Set([...list(), folder])].sort(), null, 2)}\n`)
}

export async function remove(folder: string): Promise<void> {
  await replaceFile(
    file(),
    `${JSON.stringify(
      list().filter((one) => one !== folder),
      null,
      2,
    )}\n`,
  )
}

function file(): string {
  return join(knowledgeFolder(), "sources.json")
}
