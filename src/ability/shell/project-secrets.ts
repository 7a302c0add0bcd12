// Secrets of a project, for its commands: encrypted in the records, with a key that only the servers have. A command gets
// them as variables; everywhere else they are redacted by value.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { z } from "zod"
import * as Env from "#kernel/process/env.ts"
import * as Secret from "#kernel/secret/secret.ts"
import * as Storage from "#kernel/storage/storage.ts"
import { errorText, NamedError } from "#util/error.ts"

const Sealed = z.object({
  name: z.string(),
  /** Which key it is sealed with. */
  key: z.string(),
  nonce: z.string(),
  data: z.string(),
  tag: z.string(),
  updated: z.number(),
})
type Sealed = z.infer<typeof Sealed>

class InvalidSecret extends NamedError {
  constructor(reason: string) {
    super("ProjectSecret.Invalid", `The secret is not stored: ${reason}.`)
  }
}

class BadKey extends NamedError {
  constructor(reason: string) {
    super(
      "ProjectSecret.BadKey",
      `Secrets of projects need a key: ${reason}. Set VITAMIN_SECRET_KEY, or VITAMIN_SECRET_KEY_FILE to a file, with 32 bytes in base64 (openssl rand -base64 32), the same on all servers.`,
    )
  }
}

class NotFound extends NamedError {
  constructor(name: string) {
    super("ProjectSecret.NotFound", `This project has no secret ${JSON.stringify(name)}.`, { name })
  }
}

/** Redaction needs eight characters. */
const shortest = 8
const longest = 65_536
const algorithm = "aes-256-gcm"

/** Stores a secret of a project, or replaces it. */
export async function set(
  projectId: string,
  { name, value }: { name: string; value: string },
): Promise<void> {
  if (
    !/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name) ||
    /^(PATH|HOME|LD_.*|VITAMIN_.*|GIT_.*|NODE_OPTIONS)$/.test(name)
  )
    throw new InvalidSecret(`${JSON.stringify(name)} cannot be the name of its variable`)
  if (value.length < shortest || value.length > longest || value.includes("\0"))
    throw new InvalidSecret(
      `its value needs ${shortest} to ${longest} characters and no NUL, so that it can be redacted`,
    )
  const key = readKey()
  if (!key) throw new BadKey("there is none here")
  Secret.registerEncoded(value, `secret ${name}`)
  const nonce = randomBytes(12)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(contextOf(projectId, name))
  const data = Buffer.concat([cipher.update(value, "utf8"), cipher.final()])
  const sealed: Sealed = {
    name,
    key: idOf(key),
    nonce: nonce.toString("base64"),
    data: data.toString("base64"),
    tag: cipher.getAuthTag().toString("base64"),
    updated: Date.now(),
  }
  await Storage.write(["project-secret", projectId, name], sealed)
}

/** Names only. */
export async function list(projectId: string): Promise<{ name: string; updated: number }[]> {
  return (await readAll(projectId)).map(({ name, updated }) => ({ name, updated }))
}

export async function remove(projectId: string, name: string): Promise<void> {
  if (!(await readAll(projectId)).some((one) => one.name === name)) throw new NotFound(name)
  await Storage.remove(["project-secret", projectId, name])
}

/** The variables for a command. Without a key there are none. They are redacted from here on. */
export async function variablesOf(projectId: string): Promise<Record<string, string>> {
  const key = readKey()
  if (!key) return {}
  const found: Record<string, string> = {}
  for (const sealed of await readAll(projectId)) {
    const value = unseal(projectId, sealed, key)
    Secret.registerEncoded(value, `secret ${sealed.name}`)
    found[sealed.name] = value
  }
  return found
}

/** The name and the project are part of the seal: a record that was moved or renamed does not open. */
function unseal(projectId: string, { name, key: keyId, nonce, data, tag }: Sealed, key: Buffer): string {
  if (keyId !== idOf(key)) throw new BadKey(`the secret ${name} is sealed with another one`)
  try {
    const decipher = createDecipheriv(algorithm, key, Buffer.from(nonce, "base64"), { authTagLength: 16 })
      .setAAD(contextOf(projectId, name))
      .setAuthTag(Buffer.from(tag, "base64"))
    return Buffer.concat([decipher.update(Buffer.from(data, "base64")), decipher.final()]).toString()
  } catch (error) {
    throw new BadKey(`the secret ${name} does not open (${errorText(error)})`)
  }
}

async function readAll(projectId: string): Promise<Sealed[]> {
  const found: Sealed[] = []
  await Storage.readAll<unknown>(["project-secret", projectId], (value) => {
    const { data } = Sealed.safeParse(value)
    if (data) found.push(data)
  })
  return found
}

function readKey(): Buffer | undefined {
  const file = Env.get("VITAMIN_SECRET_KEY_FILE")
  const text = (Env.get("VITAMIN_SECRET_KEY") ?? (file && textOf(file)))?.trim()
  if (!text) return undefined
  Secret.register(text, "key of the secrets")
  const key = Buffer.from(text, "base64")
  if (key.length !== 32) throw new BadKey(`the one here has ${key.length} bytes`)
  return key
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8")
  } catch (error) {
    throw new BadKey(errorText(error))
  }
}

function idOf(key: Buffer): string {
  return createHash("sha256").update("key id\0").update(key).digest("hex").slice(0, 16)
}

function contextOf(projectId: string, name: string): Buffer {
  return Buffer.from(`${projectId}\0${name}`)
}
