// Whether a variable is named like a credential: a token, a key, a password. Only the name counts. Names that end like a
// place, a limit or a kind (`…_FILE`, `…_URL`, `…_TTL`) are about a credential and are none.

/** Anywhere in a name, also at the end of a longer word: `PGPASSWORD`, `authToken`. */
const anywhere = /(token|secret|secrets|password|passwd|passphrase|apikey|credential|credentials)$/
/** Only as the last word: `DB_PASS`, `GITHUB_PAT`, `CONSUL_HTTP_AUTH`. */
const last = new Set("key keys pass pwd pat auth authorization jwt creds cred sshpass".split(" "))
/** Two words together, whatever follows: `AWS_ACCESS_KEY_ID`, `PRIVATE_KEY_PEM`. */
const pair = /(^|_)((access|api|private|secret|signing|encryption|master)_key|auth_config)(_|$)/
/** A key of these kinds is meant to be seen. */
const open = new Set("public publishable cache sort primary partition foreign".split(" "))
const about = new Set(
  "file path dir directory home url uri endpoint host limit count ttl expiry expires timeout type name arn enabled helper sock".split(
    " ",
  ),
)
/** What shells and prompts set for everybody, and is no secret. */
const ordinary = new Set(["PWD", "OLDPWD", "STARSHIP_SESSION_KEY"])

/** The same names are asked for with every command. */
const known = new Map<string, boolean>()
const maxKnown = 2_000

export function isCredentialName(name: string): boolean {
  const before = known.get(name)
  if (before !== undefined) return before
  if (known.size >= maxKnown) known.clear()
  const is = judge(name)
  known.set(name, is)
  return is
}

function judge(name: string): boolean {
  const words = wordsOf(name)
  const end = words.at(-1) ?? ""
  if (about.has(end) || ordinary.has(name)) return false
  if (words.some((word) => anywhere.test(word))) return true
  if (!last.has(end) && !pair.test(words.join("_"))) return false
  return !(words.some((word) => /^keys?$/.test(word)) && words.some((word) => open.has(word)))
}

/** `ORG_GRADLE_PROJECT_signingKey` has the words org, gradle, project, signing and key. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean)
}
