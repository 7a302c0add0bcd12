// Lists the sessions of one folder or of all folders, in pages. A cursor encodes the last session of the page before.
import { realpathSync } from "node:fs"
import { isAbsolute } from "node:path"
import type { ListSessionsRequest, ListSessionsResponse } from "@agentclientprotocol/sdk"
import { firstLine } from "#edge/acp/show/markdown.ts"
import { maxTitle } from "#edge/acp/update/replay.ts"
import { InvalidParams } from "#edge/acp/wire/errors.ts"
import * as Session from "#engine/session/session.ts"

/** Sessions are sorted by time of change, then by id, both descending. */
type Position = { updated: number; id: string }

const pageSize = 50

export async function listSessions({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
  const after = cursor ? parseCursor(cursor) : undefined
  const directory = cwd ? folderOf(cwd) : undefined
  const sessions = (await Session.list({ everywhere: true }))
    .filter((session) => directory === undefined || session.directory === directory)
    .filter((session) => !after || isAfter(session, after))
  const page = sessions.slice(0, pageSize)
  const last = page.at(-1)
  return {
    sessions: page.map(({ id, directory, title, time }) => ({
      sessionId: id,
      cwd: directory,
      ...(title ? { title: firstLine(title, maxTitle) } : {}),
      updatedAt: new Date(time.updated).toISOString(),
    })),
    ...(last && sessions.length > page.length ? { nextCursor: cursorOf(last) } : {}),
  }
}

/** A folder that was removed may still have sessions, so it need not exist. */
function folderOf(cwd: string): string {
  if (!isAbsolute(cwd))
    throw new InvalidParams(`cwd ${JSON.stringify(cwd.slice(0, 200))} is not an absolute path.`)
  try {
    return realpathSync(cwd)
  } catch {
    return cwd
  }
}

function isAfter({ id, time }: Session.Info, position: Position): boolean {
  return time.updated < position.updated || (time.updated === position.updated && id < position.id)
}

function cursorOf({ id, time }: Session.Info): string {
  return Buffer.from(JSON.stringify([time.updated, id])).toString("base64url")
}

function parseCursor(cursor: string): Position {
  try {
    const [updated, id] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"))
    if (Number.isFinite(updated) && typeof id === "string") return { updated, id }
  } catch {
    // An unreadable cursor is refused below.
  }
  throw new InvalidParams("The cursor is not one that session/list returned.")
}
