// The change that a call would make to its file, as a unified diff for the person who is asked. Models do not see it.
import { readFileSync } from "node:fs"
import type { Step } from "#ability/call/types.ts"
import { Instance } from "#kernel/instance.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorCode } from "#util/error.ts"
import { openInside } from "#util/file/resolve-inside.ts"
import { lineDiff } from "./line-diff.ts"
import { decode, toText } from "./text-file.ts"

/** Limits the diff to what a person might read, and the size of the event. */
const maxLines = 2_000
const maxLine = 500
const maxShown = 64 << 10
const maxBytes = 2_000_000

/** `real` is the real path of the call's file. Without a diff, the tool describes the change by its arguments. */
export function previewChange({ tool, args }: Step, real: string | undefined): string | undefined {
  const text = (real && tool.contentAfter ? diffOf({ tool, args }, real) : undefined) ?? tool.preview?.(args)
  if (!text) return undefined
  const lines = text.replace(/\n$/, "").split("\n")
  const shown = fitting(lines.slice(0, maxLines).map((line) => Secret.cut(line, maxLine)))
  const more = lines.length - shown.length
  return [...shown, ...(more > 0 ? [`… and ${more} more lines`] : [])].join("\n")
}

/** The first lines, leaving space for the line that counts the rest. */
function fitting(lines: string[]): string[] {
  let room = maxShown - 100
  const end = lines.findIndex((line) => {
    room -= Buffer.byteLength(line) + 1
    return room < 0
  })
  return end < 0 ? lines : lines.slice(0, end)
}

function diffOf({ tool, args }: Pick<Step, "tool" | "args">, real: string): string | undefined {
  try {
    const before = contentOf(real)
    const after = tool.contentAfter?.(args, before)
    if (!after || after.length > maxBytes) return undefined
    const [old, now] = [before ? textOf(before) : "", textOf(after)]
    return old === undefined || now === undefined ? undefined : lineDiff(old, now, { isWhole: true }).diff
  } catch {
    // The call itself will report the problem.
    return undefined
  }
}

/** Undefined if there is no file. Nothing outside the workspace is read for a question. */
function contentOf(real: string): Buffer | undefined {
  try {
    using file = openInside([Instance.worktree], real)
    if (!file.stat.isFile() || file.stat.size > maxBytes) throw new Error("it is not shown")
    return readFileSync(file.fd)
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined
    throw error
  }
}

function textOf(bytes: Buffer): string | undefined {
  const file = decode(bytes)
  return file && !file.rest.length ? toText(file, file.raw) : undefined
}
