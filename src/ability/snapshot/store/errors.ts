// The errors of snapshots.
import { errorText, NamedError } from "#util/error.ts"
import type { Uncovered } from "./part.ts"

/** The reason for a path that changed during the revert. */
export const atThisMoment = "it was changed by somebody else at this moment"

export const changedSince = "it was changed by somebody else since"
export const changedBetween = "it was changed by somebody else between two calls"
export const unknownOwner = "the work was cut off while it was written, so it is not known who changed it"

export class GitFailed extends NamedError {
  constructor(command: string, reason: string) {
    super("Snapshot.GitFailed", `git ${command} failed in the store of snapshots: ${reason}`, { command })
  }
}

export class NotTaken extends NamedError {
  constructor(reason: string, cause: unknown) {
    const text = `Nothing was changed, because the current content could not be stored for an undo: ${reason}. "snapshot": false in the configuration turns this off.`
    super("Snapshot.NotTaken", text, {}, { cause })
  }
}

/** Nothing is reverted if even one path cannot be restored. */
export class Conflict extends NamedError {
  declare readonly data: { conflicts: Uncovered[] }

  constructor(conflicts: Uncovered[]) {
    // A name may contain terminal control characters.
    const plain = (path: string) => path.replaceAll(/\p{Cc}/gu, "?")
    const shown = conflicts.slice(0, 20).map(({ path, reason }) => `  ${plain(path)}: ${reason}`)
    const more = conflicts.length > shown.length ? [`  and ${conflicts.length - shown.length} more`] : []
    const lines = ["Not reverted, because of:", ...shown, ...more, "--force reverts all that can be."]
    super("Snapshot.Conflict", lines.join("\n"), { conflicts })
  }
}

/** The plan is stored, so that the same revert can go on later. */
export class NotReverted extends NamedError {
  constructor(path: string, cause: unknown) {
    const reason = errorText(cause).split(",", 1)[0]
    const text = `${path} could not be restored: ${reason}. Run the same revert again to finish it.`
    super("Snapshot.NotReverted", text, { path }, { cause })
  }
}

export class Lost extends NamedError {
  constructor(hash: string) {
    super("Snapshot.Lost", `The bytes of ${hash} are not in the store of snapshots, or broken there.`, {
      hash,
    })
  }
}

export class InvalidRoot extends NamedError {
  constructor(root: string, here: string) {
    super("Snapshot.InvalidRoot", `The snapshots were made in ${root}, not in ${here}. Revert there.`, {
      root,
    })
  }
}
