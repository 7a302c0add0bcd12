// Grants: what a person allowed with "always", exactly as it was shown or as the person wrote it, for one agent in one
// work tree. A grant is created and revoked, never changed; a damaged record allows nothing.
import { z } from "zod"
import { Instance } from "#kernel/instance.ts"
import * as Log from "#kernel/process/log.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { errorText, NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"
import { ownCommand } from "#util/own-command.ts"
import { isExact } from "./evaluate.ts"
import { isKnown, type Meant, type Rule } from "./rule.ts"

/** How long it applies: in one session, or in every session of the project. */
export const Scope = z.enum(["session", "project"])
export type Scope = z.infer<typeof Scope>

/** What "all edits in this session" allows, inside the workspace. Files that decide what runs still need a question. */
export const editPermissions: readonly string[] = ["file.edit", "file.write"]
const allFiles = "**"

/** Strict, so that this version does not ignore a limit that a later version adds. */
export const Info = z
  .strictObject({
    id: z.string(),
    time: z.number(),
    agent: z.string().min(1).describe("the agent that may do it"),
    sessionId: z.string().min(1).describe("the session of the person who gave it"),
    worktree: z
      .string()
      .min(1)
      .describe("the folder that it holds in; a copy of the project elsewhere may belong to somebody else"),
    scope: Scope,
    permission: z.string().refine(isKnown, "no such permission"),
    pattern: z.string(),
    fingerprint: z
      .string()
      .min(1)
      .optional()
      .describe("for a tool of an MCP server: a hash of its description; the grant ends when that changes"),
    written: z
      .literal(true)
      .optional()
      .describe("the person wrote the rule; it may have wildcards, and is never enough for protected files"),
    expires: z.number().optional().describe("when it ends, in milliseconds since 1970"),
  })
  .refine((grant) => isExact(grant) || isAllEdits(grant) || (grant.written && grant.pattern !== ""), {
    path: ["pattern"],
    error:
      "a grant is for one thing, without wildcards, for all edits of a session, or has a rule that a person wrote",
  })
export type Info = z.infer<typeof Info>
type Draft = Pick<Info, "agent" | "sessionId" | "scope"> &
  Meant & { rules: Rule[]; expires?: number | undefined }

export class NotFound extends NamedError {
  constructor(id: string) {
    super(
      "Grant.NotFound",
      `Grant ${JSON.stringify(id)} does not exist in this project. "${ownCommand} permission list" shows those that do.`,
      { id },
    )
  }
}

/** The rules of "all edits in this session". */
export function allEdits(): Rule[] {
  return editPermissions.map((permission) => ({ permission, pattern: allFiles, action: "allow" }))
}

export function isAllEdits(grant: { permission: string; pattern: string; scope: Scope }): boolean {
  const { permission, pattern, scope } = grant
  return scope === "session" && pattern === allFiles && editPermissions.includes(permission)
}

/** Grants that were read already, and damaged records that were reported. */
const known = Instance.state(() => ({ grants: new Map<string, Info>(), bad: new Set<string>() }))

/** The grants of a draft, one for each rule; not stored. */
export function grantsOf({ rules, expires, fingerprint, written, ...draft }: Draft): Info[] {
  return rules.map(({ permission, pattern }) => ({
    ...draft,
    id: createId("grant"),
    time: Date.now(),
    worktree: Instance.worktree,
    permission,
    pattern,
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(written ? { written } : {}),
    ...(expires === undefined ? {} : { expires }),
  }))
}

/** Store rules. A rule that contains a secret is not stored: redacted, it would not be what was shown. */
export async function create(draft: Draft): Promise<void> {
  for (const grant of grantsOf(draft)) {
    const { permission, pattern, fingerprint } = grant
    if (Secret.reveals(pattern)) {
      Log.warn('"always" is not stored, because it contains a secret; it will be asked for again', {
        permission,
      })
      continue
    }
    await Storage.write(keyOf(grant.id), Info.parse(grant))
    if (fingerprint !== undefined) await removeOutdated(grant)
  }
}

/** All valid grants of the project, the oldest first. They are read from disk each time, so that a grant that was
 * revoked elsewhere is gone here too. */
export async function list(): Promise<Info[]> {
  const names = await ids()
  const { grants } = known()
  for (const id of grants.keys()) if (!names.has(id)) grants.delete(id)
  const found = await Promise.all([...names].map(async (id) => grants.get(id) ?? (await read(id))))
  const now = Date.now()
  return found
    .filter((grant) => grant !== undefined)
    .filter(({ expires = Number.POSITIVE_INFINITY }) => expires > now)
    .sort((a, b) => a.time - b.time || (a.id < b.id ? -1 : 1))
}

/** The grants of an agent here, for all sessions or for this one. */
export function rulesOf(grants: Info[], whose: { agent: string; sessionId: string }): (Rule & Meant)[] {
  return grants
    .filter(({ agent, worktree }) => agent === whose.agent && worktree === Instance.worktree)
    .filter(({ scope, sessionId }) => scope === "project" || sessionId === whose.sessionId)
    .map(({ permission, pattern, fingerprint, written }) => ({
      permission,
      pattern,
      action: "allow",
      fingerprint,
      written,
    }))
}

/** Revoke grants, all of them or none: a missing one throws `Grant.NotFound`. A damaged record can be removed too. */
export async function remove(...given: string[]): Promise<void> {
  const names = await ids()
  const missing = given.find((id) => !names.has(id))
  if (missing !== undefined) throw new NotFound(missing)
  await Promise.all(given.map((id) => Storage.remove(keyOf(id))))
}

/** Revoke all grants of the project; returns how many there were. */
export async function removeAll(): Promise<number> {
  const names = await ids()
  await remove(...names)
  return names.size
}

/** Remove the grants of a session with it. */
export async function removeOfSession(session: { id: string; projectId: string }): Promise<void> {
  for (const id of await ids(session.projectId)) {
    const key = keyOf(id, session.projectId)
    const { scope, sessionId } = Info.safeParse(await Storage.read(key).catch(() => undefined)).data ?? {}
    if (scope === "session" && sessionId === session.id) await Storage.remove(key)
  }
}

/** Removes grants of the same rule for an earlier version of the tool. */
async function removeOutdated(grant: Info): Promise<void> {
  const placeOf = ({ agent, worktree, permission, pattern, scope, sessionId }: Info) =>
    JSON.stringify([agent, worktree, permission, pattern, scope === "session" ? sessionId : scope])
  for (const old of await list())
    if (placeOf(old) === placeOf(grant) && old.fingerprint !== grant.fingerprint)
      await Storage.remove(keyOf(old.id))
}

async function read(id: string): Promise<Info | undefined> {
  const { grants, bad } = known()
  try {
    const grant = Info.parse(await Storage.read(keyOf(id)))
    if (grant.id !== id) throw new Error(`its content has the id ${JSON.stringify(grant.id)}`)
    grants.set(id, grant)
    return grant
  } catch (error) {
    if (error instanceof Storage.NotFound || bad.has(id)) return undefined
    bad.add(id)
    Log.warn(`grant ${id} is broken and allows nothing: ${reasonOf(error)}`)
    return undefined
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error)
  return text.replace(/\s+/g, " ")
}

async function ids(projectId = Instance.project.id): Promise<Set<string>> {
  return new Set(await Storage.list(["grant", projectId]))
}

function keyOf(id: string, projectId = Instance.project.id): string[] {
  return ["grant", projectId, id]
}
