// Queues a client's prompts and option changes for an open session, and runs them one after the other. A prompt sees all
// option changes that came before it, and no later ones.
import { checkOption, type OptionChange, storeOption } from "#edge/acp/update/session-options.ts"
import * as Log from "#kernel/process/log.ts"
import { errorText } from "#util/error.ts"

type Change = { option: OptionChange; checked: Promise<void>; isChecked: boolean }
type Turn = { stored?: Promise<void> }

/** This function and those that it returns must be called inside the instance of the session's folder. */
export function createSessionQueue(sessionId: string) {
  /** Option changes that the session's record does not have yet, the oldest first. */
  let changes: Change[] = []
  let last: Promise<unknown> = Promise.resolve()
  /** The prompt that was queued last, until it is finished. */
  let newest: Turn | undefined

  /** Resolves when the value is checked; if no prompt is queued or running, when it is stored. */
  async function setOption(option: OptionChange): Promise<void> {
    const change: Change = { option, checked: checkOption(option), isChecked: option.mode !== undefined }
    changes.push(change)
    const turn = newest
    const stored = add(() => store(change)).catch(warn)
    if (turn) turn.stored = stored
    await change.checked
    change.isChecked = true
    if (!turn) await stored
  }

  /** Run a prompt after the earlier ones. Resolves when options that were set meanwhile are stored too. */
  async function run<T>(work: () => Promise<T>): Promise<T> {
    const before = [...changes]
    const turn: Turn = {}
    newest = turn
    const done = add(async () => {
      for (const change of before) await store(change)
      return work()
    })
    try {
      return await done
    } finally {
      await turn.stored
      if (newest === turn) newest = undefined
    }
  }

  /** A change that cannot be stored stays in the list: the next prompt tries again, and fails with the reason. */
  async function store(change: Change): Promise<void> {
    if (!changes.includes(change)) return
    const isValid = await change.checked.then(
      () => true,
      () => false,
    )
    if (isValid) await storeOption(sessionId, change.option)
    changes = changes.filter((other) => other !== change)
  }

  function add<T>(task: () => Promise<T>): Promise<T> {
    const done = last.then(task)
    last = done.catch(() => {})
    return done
  }

  /** Options that are set but not stored yet. */
  function pendingOptions(): OptionChange {
    return Object.assign({}, ...changes.filter(({ isChecked }) => isChecked).map(({ option }) => option))
  }

  /** Resolves when everything that is queued now has run. */
  async function settled(): Promise<void> {
    await last
  }

  return Object.freeze({ setOption, run, pendingOptions, settled })
}

function warn(error: unknown): void {
  Log.warn("an option of a session could not be stored yet", { error: errorText(error) })
}
