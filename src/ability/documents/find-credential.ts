// Refuses to record secrets: known ones by their values, others by their form or the name in front of them. A false alarm
// costs a sentence; a secret in a memory would be read in every later session.
import { isCredentialName } from "#kernel/process/is-credential-name.ts"
import * as SecretFiles from "#kernel/process/secret-files.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { NamedError } from "#util/error.ts"

const forms: readonly [what: string, form: RegExp][] = [
  ["a private key", /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  [
    "a token",
    /\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_\w{30,}|xox[abeprs]-[\w-]{10,})/,
  ],
  ["an API key", /\b(?:sk|pk|rk)[-_](?:[\w-]*[-_])?[A-Za-z0-9]{16,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}/],
  ["a signed token", /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/],
  ["a URL with a password", /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]{3,}@/i],
]
const assignment = /([A-Za-z][\w.-]{1,60})["'`]?(\s*[:=]\s*|\s+is\s+)["'`]?([^\s"'`]{6,})/g
const placeholder = /^(?:[<[{$%*.…x-]|your\b|example|changeme|redacted)/i

class HoldsSecret extends NamedError {
  constructor(what: string) {
    super(
      "Notes.Secret",
      `Not recorded: the text has ${what}. Secrets are never recorded. Leave the value out, and say where it is kept instead.`,
    )
  }
}

/** Throws if one of the texts has a secret in it. */
export function refuseSecrets(...texts: (string | undefined)[]): void {
  SecretFiles.register()
  for (const text of texts) {
    const what = text === undefined ? undefined : findCredential(text)
    if (what) throw new HoldsSecret(what)
  }
}

function findCredential(text: string): string | undefined {
  if (Secret.reveals(text)) return "a secret that vitamin knows"
  const known = forms.find(([, form]) => form.test(text))
  if (known) return known[0]
  for (const [, name = "", between = "", value = ""] of text.matchAll(assignment))
    if (isCredentialName(name) && isValue(value, { isWord: between.includes("is"), name }))
      return `a value for ${JSON.stringify(name)}`
  return undefined
}

/** "the token is required" has no value; "password=hunter" has. */
function isValue(value: string, { isWord, name }: { isWord: boolean; name: string }): boolean {
  const plain = value.replace(/[.,;:!?)\]]+$/, "")
  if (plain.length < 6 || placeholder.test(plain)) return false
  if (/[\d_+=/@#$%^&*!~]/.test(plain) || /[a-z][A-Z]/.test(plain)) return true
  return !isWord && /^[A-Z][A-Z0-9_]+$/.test(name)
}
