// Which variables are credentials, judged by their names.

/** Anywhere in a name, also at the end of a longer word: `PGPASSWORD`, `authToken`. */
const credentialWord = /(token|secret|secrets|password|passwd|passphrase|apikey|credential|credentials)$/
/** Only as the last word: `DB_PASS`, `GITHUB_PAT`, `CONSUL_HTTP_AUTH`. */
const credentialEnd = new Set("key keys pass pwd pat auth authorization jwt creds cred sshpass".split(" "))
/** Two words together, whatever follows: `AWS_ACCESS_KEY_ID`, `PRIVATE_KEY_PEM`. */
const credentialPair = /(^|_)((access|api|private|secret|signing|encryption|master)_key|auth_config)(_|$)/
/** A key of these kinds is meant to be seen. */
const publicKey = new Set("public publishable cache sort primary partition foreign".split(" "))
const describing = new Set(
  "file path dir directory home url uri endpoint host limit count ttl expiry expires timeout type name arn enabled helper sock".split(
    " ",
  ),
)
/** Shells and prompts set these for everybody; they are no secrets. */
const noCredential = new Set(["PWD", "OLDPWD", "STARSHIP_SESSION_KEY"])
/** Names that were judged already: each command asks about every variable. */
const credentialNames = new Map<string, boolean>()

/** Whether a variable is named like a credential: a token, a key, a password. Names such as `…_FILE`, `…_URL` and
 * `…_TTL` describe a credential but are not one. */
export function isCredentialName(name: string): boolean {
  const known = credentialNames.get(name)
  if (known !== undefined) return known
  const isCredential = looksLikeCredential(name)
  credentialNames.set(name, isCredential)
  return isCredential
}

function looksLikeCredential(name: string): boolean {
  const words = wordsOf(name)
  const end = words.at(-1) ?? ""
  if (describing.has(end) || noCredential.has(name)) return false
  if (words.some((word) => credentialWord.test(word))) return true
  if (!credentialEnd.has(end) && !credentialPair.test(words.join("_"))) return false
  return !(words.some((word) => /^keys?$/.test(word)) && words.some((word) => publicKey.has(word)))
}

/** `ORG_GRADLE_PROJECT_signingKey` has the words org, gradle, project, signing and key. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean)
}
