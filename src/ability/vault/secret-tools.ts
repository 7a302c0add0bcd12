// The tools that keep secrets: `secrets_set`, `secrets_list`, `secrets_remove`. No argument and no result has a value: the
// person types it, or it is read from a variable or a file.
import { readFileSync } from "node:fs"
import { z } from "zod"
import type { Context, Definition, Need, Output } from "#ability/call/types.ts"
import { needsReading, openTarget } from "#ability/file/open-target.ts"
import * as Env from "#kernel/process/env.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"
import { personOf } from "./ask-person.ts"
import * as Vault from "./vault.ts"

const maxRead = 100_000

export const Name = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,99}$/, "expected 1 to 100 letters, digits, _ . -, a letter or digit first")

const SetParameters = z.strictObject({
  name: Name,
  from: z
    .strictObject({ env: z.string().min(1).optional(), file: z.string().min(1).optional() })
    .refine(({ env, file }) => (env === undefined) !== (file === undefined), "give either env or file")
    .optional()
    .describe(
      "a variable of vitamin's environment or a file that has the value; without it the person types it",
    ),
  replace: z.boolean().optional(),
})
type SetArgs = z.infer<typeof SetParameters>
const RemoveParameters = z.strictObject({ name: Name })
type RemoveArgs = z.infer<typeof RemoveParameters>

class NoValue extends NamedError {
  constructor(message: string) {
    super("Vault.NoValue", message)
  }
}

export const setManual = {
  example: { name: "deploy-token", from: { env: "DEPLOY_TOKEN" } },
  arguments: {
    name: "Name by which other calls use it.",
    from: "Where the value is. Without it the person types it, unseen by the model.",
    "from.env":
      "Variable of the environment that vitamin was started with; needs `secret.use` of `env:NAME` too.",
    "from.file": "File; needs `file.read` too. Line ends after the value are removed.",
    replace: "Overwrite a secret of this name.",
  },
  limits:
    "8 characters to 32 KB of text; 1 MB for the whole vault. Keys and variables (`VITAMIN_…`) of vitamin itself are refused.",
}

export const secretsSet = {
  id: "secrets_set",
  onlyNamed: true,
  description:
    "Store a secret in the vault. You never see its value: the person types it, or `from` names a variable or a file that has it.",
  category: "data",
  parameters: SetParameters,
  readOnly: false,
  permission: ({ name, from }: SetArgs): Need[] => [
    { permission: "secret.use", target: name },
    ...(from?.env === undefined ? [] : [{ permission: "secret.use", target: `env:${from.env}` }]),
    ...(from?.file === undefined ? [] : needsReading(from.file)),
  ],
  async execute({ name, from, replace = false }: SetArgs, context: Context): Promise<Output> {
    const value = await (from ? readFrom(from, context) : typedBy(context, name, replace))
    const { replaced } = await Vault.set({ name, value, replace }, personOf(context))
    const text = `The secret ${name} is ${replaced ? "replaced" : "stored"}, ${Buffer.byteLength(value)} bytes.`
    return { text, title: name, data: { name, replaced } }
  },
} satisfies Definition

export const listManual = {
  example: {},
  arguments: {},
  limits: "Names, kinds, sizes and dates, never a value.",
}

export const secretsList = {
  id: "secrets_list",
  onlyNamed: true,
  description: "List the secrets and keys of the vault: name, kind, size, dates. Values are not shown.",
  category: "data",
  parameters: z.strictObject({}),
  readOnly: true,
  async execute(_: object, context: Context): Promise<Output> {
    const entries = await Vault.list(personOf(context))
    const rows = entries.map(({ name, kind, value, created, updated }) => ({
      name,
      kind,
      bytes: Buffer.byteLength(value),
      created: new Date(created).toISOString(),
      updated: new Date(updated).toISOString(),
    }))
    const lines = rows.map(
      ({ name, kind, bytes, created, updated }) =>
        `${name}: ${kind}, ${bytes} bytes, created ${created}${updated === created ? "" : `, changed ${updated}`}`,
    )
    return { text: lines.join("\n") || "The vault is empty.", data: rows }
  },
} satisfies Definition

export const removeManual = {
  example: { name: "deploy-token" },
  arguments: { name: "Secret or key to remove." },
  limits: "It cannot be recovered; what was encrypted with a removed key stays encrypted.",
}

export const secretsRemove = {
  id: "secrets_remove",
  onlyNamed: true,
  description: "Remove a secret or a key from the vault, for ever.",
  category: "data",
  parameters: RemoveParameters,
  readOnly: false,
  permission: ({ name }: RemoveArgs): Need[] => [{ permission: "secret.use", target: name }],
  async execute({ name }: RemoveArgs, context: Context): Promise<Output> {
    const { kind } = await Vault.remove(name, personOf(context))
    return { text: `${name} (${kind}) is removed from the vault.`, title: name }
  },
} satisfies Definition

async function typedBy(context: Context, name: string, replace: boolean): Promise<string> {
  const typed = await personOf(context)?.({
    message: `The value of the secret ${name}${replace ? ", which replaces the old one if there is one" : ""}. The model does not see it.`,
    fields: { value: `Value of ${name}` },
  })
  if (typed?.value) return typed.value
  throw new NoValue(
    `${JSON.stringify(name)} was not stored: nobody typed a value. Name a variable or a file in \`from\`, or let a person do it at a terminal: vitamin vault set ${name}`,
  )
}

async function readFrom(from: NonNullable<SetArgs["from"]>, context: Context): Promise<string> {
  const value = from.env === undefined ? await readSecretFile(from.file!, context) : readVariable(from.env)
  // A value of the vault is known too, and may be stored again.
  if (Secret.isKnown(value) && !Vault.isOwn(value))
    throw new NoValue(
      "The value is a key, token or passphrase of vitamin itself, which the vault does not take.",
    )
  return value
}

function readVariable(name: string): string {
  // Windows ignores case in names of variables.
  if (/^VITAMIN_/i.test(name))
    throw new NoValue(
      `The variable ${JSON.stringify(name)} is one of vitamin itself, which the vault does not take.`,
    )
  const value = Env.get(name)
  if (value) return value
  throw new NoValue(`The variable ${JSON.stringify(name)} is not set in the environment of vitamin.`)
}

async function readSecretFile(path: string, context: Context): Promise<string> {
  using target = await openTarget(path, context)
  if (target.isDirectory) throw new NoValue(`${JSON.stringify(target.shown)} is a folder.`)
  if (target.size > maxRead)
    throw new NoValue(`${JSON.stringify(target.shown)} has ${target.size} bytes, too many for a secret.`)
  const bytes = readFileSync(target.handle.fd)
  const text = bytes.toString("utf8")
  if (!Buffer.from(text).equals(bytes)) throw new NoValue(`${JSON.stringify(target.shown)} is not text.`)
  return text.replace(/[\r\n]+$/, "")
}
