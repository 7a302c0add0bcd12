// Personal tokens: one for each person, with a role. A token is `vitamin_NAME_SECRET`; the record has only the SHA-256 of
// the secret, which has 256 random bits. Records are read for each request, so that a token that another process revoked
// is refused at once.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { z } from "zod"
import { markName } from "#ability/shell/environment.ts"
import { type Person, Role } from "#kernel/person.ts"
import * as Env from "#kernel/process/env.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { createId } from "#util/id.ts"

export const Name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9.-]{0,62}$/, "a name has small letters, digits, dots and hyphens, at most 63")
  .refine((name) => name !== "owner", '"owner" is the owner of the server')

export const Info = z.object({
  name: about("The person.", z.string()),
  role: about("What the person may do.", Role),
  id: about("The token, not its secret.", z.string()),
  created: about("In milliseconds since 1970.", z.number()),
  expires: about("When it ends, in milliseconds since 1970.", z.number().optional()),
})
export type Info = z.infer<typeof Info>
const Stored = Info.extend({ hash: z.string().regex(/^[0-9a-f]{64}$/) })
type Stored = z.infer<typeof Stored>

class Exists extends NamedError {
  constructor(name: string) {
    const text = `${name} has a token already. To give a new one, or another role, remove that first.`
    super("PersonalToken.Exists", text, { name })
  }
}

class NotFound extends NamedError {
  constructor(name: string) {
    super("PersonalToken.NotFound", `${JSON.stringify(name)} has no token.`, { name })
  }
}

const shape = /^vitamin_([a-z0-9][a-z0-9.-]{0,62})_([\w-]{43})$/
/** Compared with if there is no record, so that both cases take the same time. */
const noHash = "0".repeat(64)

/** Returns the token, which is stored nowhere: nobody can show it again. */
export async function create(given: {
  name: string
  role: Role
  expires?: number | undefined
}): Promise<Info & { token: string }> {
  refuseCommands()
  const { name, role, expires } = given
  const secret = randomBytes(32).toString("base64url")
  const info: Info = {
    name: Name.parse(name),
    role,
    id: createId("token"),
    created: Storage.now(),
    ...(expires === undefined ? {} : { expires }),
  }
  await Storage.update<Partial<Stored>>(
    keyOf(name),
    (draft) => {
      // Two processes may create it at once: the lock of the record decides.
      if (draft.id !== undefined) throw new Exists(name)
      Object.assign(draft, info, { hash: hashOf(secret).toString("hex") })
    },
    { initial: {} },
  )
  return { ...info, token: `vitamin_${name}_${secret}` }
}

export async function list(): Promise<Info[]> {
  const found: Info[] = []
  await Storage.readAll(["person"], (value) => {
    const parsed = Info.safeParse(value)
    if (parsed.success) found.push(parsed.data)
  })
  return found
}

/** Revoke the token of a person. */
export async function remove(name: string): Promise<void> {
  refuseCommands()
  if (!(await read(name))) throw new NotFound(name)
  await Storage.remove(keyOf(name))
}

/** The person of a token; undefined if it is wrong, revoked or expired. */
export async function find(token: string): Promise<Person | undefined> {
  const [, name = "", secret = ""] = shape.exec(token) ?? []
  const stored = await read(name)
  const isSame = timingSafeEqual(hashOf(secret), Buffer.from(stored?.hash ?? noHash, "hex"))
  return stored && isSame ? personOf(stored) : undefined
}

/** The person as they are now; undefined if their token was revoked or has expired. */
export async function renew({
  name,
  tokenId,
}: Pick<Person, "name" | "tokenId">): Promise<Person | undefined> {
  const stored = await read(name)
  return stored?.id === tokenId ? personOf(stored) : undefined
}

/** The person with this name, for an admin who acts for them. Throws `NotFound`. */
export async function get(name: string): Promise<Person> {
  const stored = await read(name)
  const person = stored && personOf(stored)
  if (!person) throw new NotFound(name)
  return person
}

/** Otherwise a command of the model could make itself a token. A command that has the server's token can do so anyway. */
function refuseCommands(): void {
  if (Env.get(markName))
    throw new NamedError("PersonalToken.Denied", "A command that vitamin runs cannot change tokens.")
}

function personOf({ name, role, id, expires = Number.POSITIVE_INFINITY }: Stored): Person | undefined {
  return expires > Storage.now() ? { name, role, tokenId: id } : undefined
}

/** A damaged record gives no access. */
async function read(name: string): Promise<Stored | undefined> {
  if (!Name.safeParse(name).success) return undefined
  try {
    return Stored.safeParse(await Storage.read(keyOf(name))).data
  } catch (error) {
    if (error instanceof Storage.NotFound || error instanceof Storage.Corrupt) return undefined
    throw error
  }
}

function hashOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest()
}

function keyOf(name: string): Storage.Key {
  return ["person", name]
}
