// The records that this process wrote to the segment in use. While no other process writes there, a checkpoint can
// use them and need not read the segment.
import { headerBytes } from "./journal.ts"
import type { State } from "./state.ts"

export type Written = {
  /** A commit begins at the current end of the journal. */
  begin(state: State): void
  add(path: string): void
  /** A commit has ended; the next writer moves the end on. */
  end(state: State): void
  /** The records of a generation; undefined if another process may have written too. */
  recordsOf(generation: number): Iterable<string> | undefined
}

export function createWritten(): Written {
  let paths: Set<string> | undefined
  let last = { generation: 0, end: 0 }

  return Object.freeze({
    begin({ generation, end }: State) {
      if (end === headerBytes) paths = new Set()
      else if (generation !== last.generation || end !== last.end) paths = undefined
    },
    add: (path: string) => void paths?.add(path),
    end({ generation, end }: State) {
      last = { generation, end }
    },
    recordsOf: (generation: number) => (generation === last.generation ? paths : undefined),
  })
}
