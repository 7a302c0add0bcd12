// Takes what a session made out of its checkout: as a branch of the project's repository, or as a patch.
import { isAddress } from "#ability/checkout/address.ts"
import * as SessionRecord from "#engine/record/session-record.ts"
import { Instance } from "#kernel/instance.ts"
import * as Person from "#kernel/person.ts"
import { NamedError } from "#util/error.ts"
import { ownCommand } from "#util/own-command.ts"

export type Pushed = { branch?: string; commit?: string; patch?: string }

class NoProject extends NamedError {
  constructor(sessionId: string, directory: string) {
    super(
      "Session.NoProjectConflict",
      `Session ${sessionId} works in the folder ${directory}, not in a checkout. "${ownCommand} session diff" shows what it changed.`,
      { sessionId },
    )
  }
}

/** With `patch` nothing is pushed. Git uses the keys and the credential helper of the user who runs this process. */
export async function push(
  sessionId: string,
  options: {
    branch?: string | undefined
    isDefaultAllowed?: boolean | undefined
    patch?: boolean | undefined
  },
): Promise<Pushed> {
  const session = await SessionRecord.getFor(sessionId, "member")
  if (!isAddress(session.directory)) throw new NoProject(sessionId, session.directory)
  const { open } = await import("#ability/checkout/checkout.ts")
  const { makePatch, pushBranch } = await import("#ability/checkout/push.ts")
  const directory = await open(session.directory, sessionId)
  const person = Person.current()?.name
  const fn = async (): Promise<Pushed> => {
    if (options.patch) return { patch: await makePatch() }
    return pushBranch({
      branch: options.branch ?? `vitamin/${sessionId}`,
      isDefaultAllowed: options.isDefaultAllowed ?? false,
      message: `${session.title || "Changes of a session"}\n\nSession: ${sessionId}`,
      author: person === undefined ? undefined : { name: person, email: `${person}@localhost` },
    })
  }
  return directory === Instance.directory ? fn() : Instance.provide({ directory, fn })
}
