// Whether a recorded change is one: a call may write what was there already.
import { isSame, type Part } from "#ability/snapshot/store/part.ts"

/** False if the call wrote the same content. */
export function isChanged({ before, after }: Part["files"][number]): boolean {
  return after === undefined || !isSame(before, after)
}
