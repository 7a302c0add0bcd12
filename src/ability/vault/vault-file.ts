// The form of the vault on disk, three lines: a header, the encrypted entries in base64, a checksum of both. AES-256-GCM
// authenticates the header with the entries; the checksum tells damage from a wrong key.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto"
import { z } from "zod"
import { NamedError } from "#util/error.ts"

const Base64 = z.string().regex(/^[A-Za-z0-9+/]+=*$/)
const maxMemory = 256 * 1024 * 1024
/** The limits keep a changed header from taking all memory, or minutes of work: scrypt takes 128·N·r bytes, `p` times one
 * after the other. */
const Scrypt = z
  .strictObject({
    N: z
      .int()
      .min(1 << 14)
      .refine((cost) => Number.isInteger(Math.log2(cost))),
    r: z.int().min(1),
    p: z.int().min(1).max(4),
  })
  .refine(({ N, r }) => 128 * N * r <= maxMemory)
/** Where the key comes from. Its value is never in the file. */
export const Lock = z.discriminatedUnion("from", [
  z.strictObject({ from: z.literal("passphrase"), salt: Base64, scrypt: Scrypt }),
  z.strictObject({ from: z.literal("keyring"), id: z.string().min(1).max(100) }),
])
export type Lock = z.infer<typeof Lock>

const Header = z.strictObject({ vault: z.literal(1), lock: Lock, nonce: Base64 })

export const Entry = z.strictObject({
  name: z.string(),
  /** `aes-256`: 32 bytes in base64. `ed25519`: a private key as PEM. */
  kind: z.enum(["secret", "aes-256", "ed25519"]),
  value: z.string(),
  /** Milliseconds since 1970. */
  created: z.number(),
  updated: z.number(),
})
export type Entry = z.infer<typeof Entry>

export type Sealed = { lock: Lock; open(key: Buffer): Entry[] }

const cipher = "aes-256-gcm"
const tagBytes = 16

export class Damaged extends NamedError {
  constructor(file: string, reason: string) {
    super(
      "Vault.Damaged",
      `The vault ${file} cannot be used: ${reason}. It was left as it is. Restore it from a backup, or move it away to begin a new one.`,
      { file },
    )
  }
}

/** The key does not open the vault. */
export class WrongKey extends NamedError {
  constructor(file: string) {
    super(
      "Vault.WrongKey",
      `The key does not open the vault ${file}: the passphrase is wrong, or somebody changed the file. It was left as it is.`,
      { file },
    )
  }
}

export function parse(text: string, file: string): Sealed {
  if (text === "") throw new Damaged(file, "it is empty")
  const [head = "", body = "", sum, ...rest] = text.split("\n")
  if (sum !== checksum(head, body) || rest.length !== 1 || rest[0] !== "")
    throw new Damaged(file, "it is damaged (its checksum is wrong)")
  const { lock, nonce } = readHeader(head, file)
  return { lock, open: (key) => decrypt({ key, head, body, nonce, file }) }
}

/** The text of a vault. Every call takes a new nonce. */
export function seal(entries: Entry[], { lock, key }: { lock: Lock; key: Buffer }): string {
  const nonce = randomBytes(12)
  const head = JSON.stringify({ vault: 1, lock, nonce: nonce.toString("base64") } satisfies z.infer<
    typeof Header
  >)
  const encryption = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(head))
  const bytes = [encryption.update(JSON.stringify(entries)), encryption.final(), encryption.getAuthTag()]
  const body = Buffer.concat(bytes).toString("base64")
  return `${head}\n${body}\n${checksum(head, body)}\n`
}

function readHeader(head: string, file: string): z.infer<typeof Header> {
  const version = z.object({ vault: z.number() }).safeParse(jsonOf(head))
  if (version.success && version.data.vault > 1)
    throw new Damaged(file, `a newer vitamin wrote it (version ${version.data.vault})`)
  const header = Header.safeParse(jsonOf(head))
  if (!header.success) throw new Damaged(file, "its header is not one that vitamin writes")
  return header.data
}

function decrypt(options: { key: Buffer; head: string; body: string; nonce: string; file: string }): Entry[] {
  const { key, head, body, nonce, file } = options
  const bytes = Buffer.from(body, "base64")
  let plain: Buffer
  try {
    const decryption = createDecipheriv(cipher, key, Buffer.from(nonce, "base64"), {
      authTagLength: tagBytes,
    })
      .setAAD(Buffer.from(head))
      .setAuthTag(bytes.subarray(-tagBytes))
    plain = Buffer.concat([decryption.update(bytes.subarray(0, -tagBytes)), decryption.final()])
  } catch {
    throw new WrongKey(file)
  }
  const entries = z.array(Entry).safeParse(jsonOf(plain.toString()))
  if (!entries.success) throw new Damaged(file, "its entries are not those that vitamin writes")
  return entries.data
}

function checksum(head: string, body: string): string {
  return createHash("sha256").update(`${head}\n${body}\n`).digest("hex")
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
