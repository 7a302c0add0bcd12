// The tools `crypto_sign`, `crypto_verify` (Ed25519 with a key of the vault) and `crypto_hash`.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto"
import { z } from "zod"
import type { Context, Definition, Need, Output } from "#ability/call/types.ts"
import { personOf } from "./ask-person.ts"
import { Name } from "./secret-tools.ts"
import {
  isOne,
  needsOf,
  oneMessage,
  readSubject,
  streamSubject,
  subject,
  subjectManual,
  Unusable,
} from "./subject.ts"
import * as Vault from "./vault.ts"

const Sign = z.strictObject({ key: Name.describe("key of the vault"), ...subject }).refine(isOne, oneMessage)
type SignArgs = z.infer<typeof Sign>
const Verify = z
  .strictObject({
    key: Name.optional().describe("key of the vault"),
    publicKey: z
      .string()
      .max(1_000)
      .optional()
      .describe("instead of key: a public key as crypto_sign returns it"),
    signature: z.string().regex(/^[A-Za-z0-9+/]{86}==$/, "expected a signature of 64 bytes in base64"),
    ...subject,
  })
  .refine(isOne, oneMessage)
  .refine(
    ({ key, publicKey }) => (key === undefined) !== (publicKey === undefined),
    "give either key or publicKey",
  )
type VerifyArgs = z.infer<typeof Verify>
const Hash = z
  .strictObject({ algorithm: z.enum(["sha256", "sha512", "blake2b512"]).default("sha256"), ...subject })
  .refine(isOne, oneMessage)
type HashArgs = z.infer<typeof Hash>

export const signManual = {
  example: { key: "release", path: "dist.tar" },
  arguments: { key: "Key of the vault; it is made if there is none of this name.", ...subjectManual },
  limits: "Ed25519; files up to 100 MB. A file needs `file.read` too.",
}

export const cryptoSign = {
  id: "crypto_sign",
  onlyNamed: true,
  description:
    "Sign a text or a file with a key of the vault (Ed25519). The key is made if it does not exist. Returns the signature and the public key in base64.",
  category: "data",
  parameters: Sign,
  readOnly: false,
  permission: (args: SignArgs): Need[] => [{ permission: "secret.use", target: args.key }, ...needsOf(args)],
  async execute(args: SignArgs, context: Context): Promise<Output> {
    const bytes = await readSubject(args, context)
    const { entry, created } = await Vault.ensureKey(
      { name: args.key, kind: "ed25519", create: createSigningKey },
      personOf(context),
    )
    const key = createPrivateKey(entry.value)
    const signature = sign(null, bytes, key).toString("base64")
    const publicKey = exported(createPublicKey(key))
    const note = created ? `\n[the key ${args.key} was made]` : ""
    return {
      text: `signature: ${signature}\npublic key: ${publicKey}${note}`,
      data: { signature, publicKey },
    }
  },
} satisfies Definition

export const verifyManual = {
  example: {
    key: "release",
    path: "dist.tar",
    signature: `${"A".repeat(86)}==`,
  },
  arguments: {
    key: "Key of the vault that signed it.",
    publicKey: "Public key in base64 (SPKI) instead of `key`; needs no vault.",
    signature: "Signature in base64.",
    ...subjectManual,
  },
  limits: "Ed25519; files up to 100 MB. A file needs `file.read` too.",
}

export const cryptoVerify = {
  id: "crypto_verify",
  onlyNamed: true,
  description: "Check an Ed25519 signature of a text or a file, with a key of the vault or a public key.",
  category: "data",
  parameters: Verify,
  readOnly: true,
  permission: (args: VerifyArgs): Need[] => [
    ...(args.key === undefined ? [] : [{ permission: "secret.use", target: args.key }]),
    ...needsOf(args),
  ],
  async execute(args: VerifyArgs, context: Context): Promise<Output> {
    const bytes = await readSubject(args, context)
    const key = await publicKeyOf(args, context)
    const valid = verify(null, bytes, key, Buffer.from(args.signature, "base64"))
    return { text: valid ? "The signature is valid." : "The signature is NOT valid.", data: { valid } }
  },
} satisfies Definition

export const hashManual = {
  example: { path: "dist.tar", algorithm: "sha256" },
  arguments: { algorithm: "Kind of hash.", ...subjectManual },
  limits: "Files of any size. A file needs `file.read`.",
}

export const cryptoHash = {
  id: "crypto_hash",
  onlyNamed: true,
  description: "Hash a text or a file. Returns hex.",
  category: "data",
  parameters: Hash,
  readOnly: true,
  permission: needsOf,
  async execute({ algorithm, ...of }: HashArgs, context: Context): Promise<Output> {
    const hash = createHash(algorithm)
    for await (const chunk of streamSubject(of, context)) hash.update(chunk)
    const hex = hash.digest("hex")
    return { text: `${algorithm} ${hex}`, data: { algorithm, hash: hex } }
  },
} satisfies Definition

function createSigningKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()
}

function exported(key: KeyObject): string {
  return key.export({ type: "spki", format: "der" }).toString("base64")
}

async function publicKeyOf({ key, publicKey }: VerifyArgs, context: Context): Promise<KeyObject> {
  if (key !== undefined) return createPublicKey((await Vault.get(key, "ed25519", personOf(context))).value)
  let found: KeyObject | undefined
  try {
    found = createPublicKey({ key: Buffer.from(publicKey!, "base64"), type: "spki", format: "der" })
  } catch {
    // Told below.
  }
  if (found?.asymmetricKeyType === "ed25519") return found
  throw new Unusable("publicKey is not an Ed25519 public key in base64 (SPKI), as crypto_sign returns it.")
}
