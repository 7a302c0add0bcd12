// The `recall` tool: searches the records of earlier sessions, for agents that name it. The store is outside the
// workspace, so a person is asked unless a rule allows it. It returns only records of the folders that it asked for.
import { join } from "node:path"
import { z } from "zod"
import type { Context, Definition, Output } from "#ability/call/types.ts"
import { Instance } from "#kernel/instance.ts"
import { refuseInGuest } from "#kernel/process/guest.ts"
import { storeFolder } from "#knowledge/grounding/store-folder.ts"
import { descriptions } from "./descriptions.ts"

const defaultLimit = 20
/** Kinds of records that belong to sessions. Other kinds are searched only when `under` names one. */
const ofSessions = ["session", "message", "relation", "todo"]

const Parameters = z.strictObject({
  text: z.string().min(1).optional(),
  where: z.array(z.string().regex(/^[^=]+=/)).optional(),
  under: z.string().min(1).optional(),
  limit: z.int().min(1).max(100).optional(),
  everywhere: z.boolean().optional().describe("other projects too"),
})
type Args = z.infer<typeof Parameters>

/** For docs/tools.md; models are not sent it. */
export const manual = {
  example: { text: "port", under: "message" },
  arguments: {
    text: "Literal text to look for, in any case.",
    where: "Conditions on fields, such as `data.role=user`.",
    under: "Kind of record: `message`, `session`, `relation`, `todo`.",
    limit: `Records to show; without it ${defaultLimit}.`,
    everywhere: "Search other projects too.",
  },
  limits: "20 s. The records of the session itself are left out.",
}

export const recall = {
  id: "recall",
  routingName: "memory_recall",
  description: descriptions.recall,
  category: "data",
  parameters: Parameters,
  readOnly: true,
  onlyNamed: true,
  permission: (args: Args) => foldersOf(args).map((target) => ({ permission: "file.read", target })),
  execute,
} satisfies Definition

/** The model already sees its own session. */
async function execute(args: Args, { sessionId, signal, judge }: Context): Promise<Output> {
  refuseInGuest("The memory of earlier sessions")
  const limit = args.limit ?? defaultLimit
  const folders = foldersOf(args)
  const accepts = (name: string) => {
    const path = `${join(storeFolder(), name)}.json`
    const isAsked = folders.some((folder) => path.startsWith(`${folder}/`))
    const isDenied = () => judge?.({ permission: "file.read", target: path }) === "deny"
    return isAsked && !name.split("/").includes(sessionId) && !isDenied()
  }
  const where = Object.fromEntries((args.where ?? []).map(fieldOf))
  const Grounding = await import("#knowledge/grounding/grounding.ts")
  const { items, more, timedOut } = await Grounding.get("data_store").search({
    ...args,
    where,
    limit,
    accepts,
    signal,
  })
  const lines = items.map(({ name, kind, text }) => `${name}${kind ? ` (${kind})` : ""}: ${text}`)
  const stopped = timedOut ? "the search was stopped after 20 s" : "there is more"
  const note = more
    ? `\n[${stopped}, the newest ${items.length} are shown; narrow the search, or raise limit]`
    : ""
  return {
    text: (lines.join("\n") || "Nothing stored fits.") + note,
    title: `${args.text ?? args.under ?? "all"} (${items.length}${more ? "+" : ""})`,
    data: { found: items.length, more },
  }
}

/** The folders whose records a search can return. */
function foldersOf({ everywhere, under }: Args): string[] {
  if (everywhere) return [storeFolder()]
  const kind = /^(?:\.?\/)*([^/]+)/.exec(under ?? "")?.[1]
  const kinds = kind === undefined || kind === "." ? ofSessions : [kind]
  return kinds.map((name) =>
    name === "session" ? storeFolder(Instance.project.id) : join(storeFolder(), name),
  )
}

/** `data.role=user` */
function fieldOf(filter: string): [path: string, value: string] {
  const at = filter.indexOf("=")
  return [filter.slice(0, at), filter.slice(at + 1)]
}
