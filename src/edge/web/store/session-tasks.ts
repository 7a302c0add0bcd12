// The sessions that do tasks for an open session. They are read when a call that gives tasks is shown; events add later ones.
import { ClientError } from "#client/client.ts"
import { clientFor } from "#edge/web/base/api.ts"
import { attempt } from "./problems.ts"
import { addSessions, loads, type Reader, readers } from "./sessions.ts"

export function createSessionTasks(id: string) {
  const read: Reader = async () => ({
    sessions: await clientFor()
      .listTasks({ id })
      .catch((error) => {
        // The session was removed.
        if (!(error instanceof ClientError && error.status === 404)) throw error
        return []
      }),
  })

  async function load(): Promise<void> {
    if (readers.has(read)) return
    readers.add(read)
    const turn = loads
    try {
      const { sessions } = await read()
      // If everything was read again meanwhile, these were too.
      if (turn === loads) addSessions(sessions)
    } catch (error) {
      readers.delete(read)
      throw error
    }
  }

  return Object.freeze({ load: () => attempt(load), close: () => void readers.delete(read) })
}
