// The sessions of a folder, or all, page by page. A cursor is the position of the last one that was sent.
import { realpathSync } from "node:fs"
import { isAbsolute } from "node:path"
import type { ListSessionsRequest, ListSessionsResponse } from "@agentclientprotocol/sdk"
import { firstLine } from "#edge/acp/show/markdown.ts"
import { maxTitle } from "#edge/acp/update/replay.ts"
import { InvalidParams } from "#edge/acp/wire/errors.ts"
import * as Session from "#engine/session/session.ts"

type Place = { updated: number; id: string }

const pageSize = 50

export async function listSessions({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
  const after = cursor ? placeOf(cursor) : undefined
  const directory = cwd ? folderOf(cwd) : undefined
  const sessions = (await Session.list({ everywhere: true }))
    .filter((session) => directory === undefined || session.directory === directory)
    .filter((session) => !after || isBehind(session, after))
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

/** One that is gone may still have sessions. */
function folderOf(cwd: string): string {
  if (!isAbsolute(cwd))
    throw new InvalidParams(`cwd ${JSON.stringify(cwd.slice(0, 200))} is not an absolute path.`)
  try {
    return realpathSync(cwd)
  } catch {
    return cwd
  }
}

function isBehind({ id, time }: Session.Info, place: Place): boolean {
  return time.updated < place.updated || (time.updated === place.updated && id < place.id)
}

function cursorOf({ id, time }: Session.Info): string {
  return Buffer.from(JSON.stringify([time.updated, id])).toString("base64url")
}

function placeOf(cursor: string): Place {
  try {
    const [updated, id] = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"))
    if (Number.isFinite(updated) && typeof id === "string") return { updated, id }
  } catch {
    // It is refused below.
  }
  throw new InvalidParams("The cursor is none that session/list gave.")
}
