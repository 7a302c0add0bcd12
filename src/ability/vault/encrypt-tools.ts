// The tools `crypto_encrypt` and `crypto_decrypt`: AES-256-GCM with a key of the vault. The form: a line with version and
// name of the key, which is authenticated too, then nonce, encrypted bytes and tag. Texts are the same in base64.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { z } from "zod"
import type { Context, Definition, Need, Output } from "#ability/call/types.ts"
import { personOf } from "./ask-person.ts"
import { Name } from "./secret-tools.ts"
import {
  isOne,
  needsOf,
  needsResult,
  oneMessage,
  readSubject,
  subject,
  subjectManual,
  Unusable,
  writeResult,
} from "./subject.ts"
import * as Vault from "./vault.ts"

const cipher = "aes-256-gcm"
const start = "vitamin-encrypted 1 "
const [nonceBytes, tagBytes, maxHead] = [12, 16, 200]

const Parameters = z
  .strictObject({ key: Name.describe("key of the vault"), ...subject, to: z.string().min(1).optional() })
  .refine(isOne, oneMessage)
  .refine(({ text, to }) => text === undefined || to === undefined, "to is only for a path")
const Encrypt = Parameters
const Decrypt = Parameters.refine(
  ({ path, to }) => path === undefined || to !== undefined || path.endsWith(".enc"),
  "name the new file in to: path does not end with .enc",
)
type Args = z.infer<typeof Parameters>

const manualOf = (path: string, key: string, to: string) => ({
  example: { key: "backup", path },
  arguments: { key, ...subjectManual, to },
  limits:
    "AES-256-GCM with a new nonce for each call; files up to 100 MB. An existing file is never overwritten. A file needs `file.read` and `file.write` too.",
})
export const encryptManual = manualOf(
  "notes.txt",
  "Key of the vault; it is made if there is none of this name.",
  "New file; default: the path with `.enc`.",
)
export const decryptManual = manualOf(
  "notes.txt.enc",
  "Key of the vault that encrypted it.",
  "New file; default: the path without `.enc`.",
)

export const cryptoEncrypt = {
  id: "crypto_encrypt",
  onlyNamed: true,
  description:
    "Encrypt a text or a file with a key of the vault (AES-256-GCM). The key is made if it does not exist. A text is returned in base64, a file is written to `to`.",
  category: "data",
  parameters: Encrypt,
  readOnly: false,
  permission: (args: Args): Need[] => needs(args, encryptedName(args)),
  async execute(args: Args, context: Context): Promise<Output> {
    const plain = await readSubject(args, context)
    const create = () => randomBytes(32).toString("base64")
    const { entry, created } = await Vault.ensureKey(
      { name: args.key, kind: "aes-256", create },
      personOf(context),
    )
    const bytes = encrypt(plain, entry)
    const note = created ? `\n[the key ${args.key} was made]` : ""
    const to = encryptedName(args)
    if (to === undefined) return { text: `${bytes.toString("base64")}${note}` }
    const shown = await writeResult(to, bytes, context)
    return { text: `${shown} written, ${bytes.length} bytes.${note}`, title: shown }
  },
} satisfies Definition

export const cryptoDecrypt = {
  id: "crypto_decrypt",
  onlyNamed: true,
  description:
    "Decrypt what crypto_encrypt made, with the same key of the vault. A text is returned, a file is written to `to`.",
  category: "data",
  parameters: Decrypt,
  readOnly: false,
  permission: (args: Args): Need[] => needs(args, decryptedName(args)),
  async execute(args: Args, context: Context): Promise<Output> {
    const given = await readSubject(args, context)
    const bytes = args.path === undefined ? Buffer.from(given.toString(), "base64") : given
    const plain = decrypt(bytes, await keyOf(bytes, args.key, context))
    const to = decryptedName(args)
    if (to === undefined) return { text: plain.toString() }
    const shown = await writeResult(to, plain, context)
    return { text: `${shown} written, ${plain.length} bytes.`, title: shown }
  },
} satisfies Definition

function needs(args: Args, to: string | undefined): Need[] {
  const own: Need = { permission: "secret.use", target: args.key }
  return [own, ...needsOf(args), ...(to === undefined ? [] : needsResult(to))]
}

function encryptedName({ path, to }: Args): string | undefined {
  return path === undefined ? undefined : (to ?? `${path}.enc`)
}

function decryptedName({ path, to }: Args): string | undefined {
  return path === undefined ? undefined : (to ?? path.replace(/\.enc$/, ""))
}

function encrypt(plain: Buffer, { name, value }: Vault.Entry): Buffer {
  const head = Buffer.from(`${start}${name}\n`)
  const nonce = randomBytes(nonceBytes)
  const encryption = createCipheriv(cipher, Buffer.from(value, "base64"), nonce).setAAD(head)
  return Buffer.concat([head, nonce, encryption.update(plain), encryption.final(), encryption.getAuthTag()])
}

/** Says which key is needed, before the vault is opened. */
async function keyOf(bytes: Buffer, key: string, context: Context): Promise<Vault.Entry> {
  const name = headOf(bytes).toString().slice(start.length, -1)
  if (name !== key)
    throw new Unusable(`It was encrypted with the key ${JSON.stringify(name)}, not ${JSON.stringify(key)}.`)
  return Vault.get(key, "aes-256", personOf(context))
}

function headOf(bytes: Buffer): Buffer {
  const end = bytes.subarray(0, maxHead).indexOf(10)
  const head = bytes.subarray(0, end + 1)
  const isOurs = Name.safeParse(head.toString().slice(start.length, -1)).success
  if (
    end < 0 ||
    !head.toString().startsWith(start) ||
    !isOurs ||
    bytes.length < end + 1 + nonceBytes + tagBytes
  )
    throw new Unusable("It is not what crypto_encrypt makes, or it is cut off.")
  return head
}

function decrypt(bytes: Buffer, { name, value }: Vault.Entry): Buffer {
  const head = headOf(bytes)
  const nonce = bytes.subarray(head.length, head.length + nonceBytes)
  try {
    const decryption = createDecipheriv(cipher, Buffer.from(value, "base64"), nonce, {
      authTagLength: tagBytes,
    })
      .setAAD(head)
      .setAuthTag(bytes.subarray(-tagBytes))
    const middle = bytes.subarray(head.length + nonceBytes, -tagBytes)
    return Buffer.concat([decryption.update(middle), decryption.final()])
  } catch {
    throw new Unusable(
      `It is damaged or was changed, or another key named ${JSON.stringify(name)} encrypted it.`,
    )
  }
}
