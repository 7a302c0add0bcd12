// Begins as the command line says: with a session, by its id, by the start of it, or the newest one of this work tree, and
// with a first prompt.
import type { Client, Session } from "#client/client.ts"
import type { Conversation } from "./conversation.ts"
import type { TuiOptions } from "./options.ts"

type Given = {
  client: Client
  talk: Conversation
  options: Pick<TuiOptions, "session" | "isContinued" | "text" | "parts" | "agent" | "model" | "mode">
  show(id: string): Promise<void>
}

/** Opens the session that the command line names, and sends the first prompt. */
export async function beginAsGiven({ client, talk, options, show }: Given): Promise<void> {
  const { session, isContinued, text } = options
  if (session !== undefined || isContinued) {
    await show((await findSession(client, session)).id)
    await applyGiven(client, talk, options)
  }
  const parts = await options.parts()
  if (text || parts.length) await talk.send(text, parts)
}

async function findSession(client: Client, name: string | undefined): Promise<Session> {
  const [sessions, { worktree }] = await Promise.all([client.listSessions({}), client.getInfo()])
  const isHere = ({ directory }: Session) => directory === worktree || directory.startsWith(`${worktree}/`)
  const found =
    name === undefined
      ? sessions.filter(isHere).slice(0, 1)
      : sessions.filter(({ id }) => id === name || id.startsWith(name) || id.startsWith(`sess_${name}`))
  const exact = found.find(({ id }) => id === name) ?? found[0]
  if (exact && (found.length === 1 || exact.id === name)) return exact
  if (name === undefined) throw new Error("There is no session in this folder yet.")
  if (!found.length) throw new Error(`Session ${name} does not exist.`)
  throw new Error(`"${name}" fits ${found.length} sessions. Type more of the id.`)
}

/** An agent, a model or a mode that the command line names changes the session that it continues. */
async function applyGiven(
  client: Client,
  talk: Conversation,
  { agent, model, mode }: Pick<TuiOptions, "agent" | "model" | "mode">,
): Promise<void> {
  // An unknown one is refused here, not with the first prompt.
  if (agent) await client.getAgent({ id: agent })
  if (agent || model) await talk.choose({ ...(agent ? { agent } : {}), ...(model ? { model } : {}) })
  if (mode === "plan") await talk.setPreset("plan")
  if (mode === "act" && talk.preset === "plan") await talk.setPreset("ask")
}
