// What this process wrote to the segment in use. As long as nobody else writes there it knows every record of it, and
// a checkpoint need not read the segment, which takes longer than many a write.
import { headerBytes } from "./journal.ts"
import type { State } from "./state.ts"

export type Written = {
  /** A commit begins where the journal stands now. */
  begin(state: State): void
  add(path: string): void
  /** A commit has ended: whoever writes next moves the end on. */
  end(state: State): void
  /** The records of a generation; undefined where somebody else may have written too. */
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
