// Recognises files that usually contain secrets, by their names. Such a file is sent to a model only if a tool call
// reads it, as the rules allow.
import { readPath } from "#util/wildcard.ts"

/** In lower case, as any segment of a path. */
const names = new Set(
  ".git .ssh .gnupg .aws .azure .gcloud .kube .docker .dockercfg .git-credentials .netrc _netrc .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .htpasswd .envrc .vault-token .terraformrc .credentials credentials credentials.json credentials.toml secrets.json secrets.toml secrets.yml secrets.yaml".split(
    " ",
  ),
)
const forms = [
  /^\.env(?:\.(?!(?:example|sample|template|dist|defaults|md)$).*)?$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/,
  /\.(?:pem|key|p12|pfx|ppk|jks|keystore|kdbx|tfstate|tfvars)$/,
  /^service[-_]?account.*\.json$/,
]

export function isSecretFile(path: string): boolean {
  const segments = readPath(path).segments.map((segment) => segment.toLowerCase())
  const name = segments.at(-1) ?? ""
  return segments.some((segment) => names.has(segment)) || forms.some((form) => form.test(name))
}
