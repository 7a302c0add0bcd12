// Serialises the requests of a client for an open session: prompts one after the other, and option changes between
// them. A prompt sees all earlier changes, and no later ones.

import { checkWish, keepWish, type Wish } from "#edge/acp/update/session-options.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"

type Choice = { wish: Wish; checked: Promise<void>; isChecked: boolean }
type Turn = { kept?: Promise<void> }

/** To be called inside the instance of the session's folder, and so are its functions. */
export function createSessionLine(sessionId: string) {
  /** Those that are not in the record yet, the oldest first. */
  let choices: Choice[] = []
  let last: Promise<unknown> = Promise.resolve()
  /** The last one that was asked for, while it is not over. */
  let newest: Turn | undefined

  /** Returns when it is known that it can be had; where nothing works, when it is kept. */
  async function choose(wish: Wish): Promise<void> {
    const choice: Choice = { wish, checked: checkWish(wish), isChecked: wish.mode !== undefined }
    choices.push(choice)
    const turn = newest
    const kept = add(() => keep(choice)).catch(warn)
    if (turn) turn.kept = kept
    await choice.checked
    choice.isChecked = true
    if (!turn) await kept
  }

  /** Run a turn after those before it. It ends when options that were set meanwhile are stored. */
  async function run<T>(work: () => Promise<T>): Promise<T> {
    const before = [...choices]
    const turn: Turn = {}
    newest = turn
    const done = add(async () => {
      for (const choice of before) await keep(choice)
      return work()
    })
    try {
      return await done
    } finally {
      await turn.kept
      if (newest === turn) newest = undefined
    }
  }

  /** One that cannot be kept now stays: the next prompt tries again, and says why it cannot be. */
  async function keep(choice: Choice): Promise<void> {
    if (!choices.includes(choice)) return
    const isThere = await choice.checked.then(
      () => true,
      () => false,
    )
    if (isThere) await keepWish(sessionId, choice.wish)
    choices = choices.filter((one) => one !== choice)
  }

  function add<T>(task: () => Promise<T>): Promise<T> {
    const done = last.then(task)
    last = done.catch(() => {})
    return done
  }

  /** Options that are set but not stored yet. */
  function wished(): Wish {
    return Object.assign({}, ...choices.filter(({ isChecked }) => isChecked).map(({ wish }) => wish))
  }

  /** When all that was asked so far is done. */
  async function settled(): Promise<void> {
    await last
  }

  return Object.freeze({ choose, run, wished, settled })
}

function warn(error: unknown): void {
  Log.warn("what was chosen for a session could not be kept yet", { error: errorText(error) })
}
