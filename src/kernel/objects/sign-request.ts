// Signs a request to an S3-like store (AWS Signature Version 4, in headers). The path must need no encoding.
import { createHash, createHmac } from "node:crypto"

export type Keys = { id: string; secret: string; token?: string | undefined }

type Unsigned = { method: string; url: URL; hash: string; keys: Keys; region: string; now: Date }

/** The headers to send. `hash`: SHA-256 of the body. Query parameters must be in the order of their names, and encoded. */
export function signRequest({ method, url, hash, keys, region, now }: Unsigned): Record<string, string> {
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, "")
  const headers: Record<string, string> = {
    host: url.host,
    "x-amz-content-sha256": hash,
    "x-amz-date": time,
    ...(keys.token ? { "x-amz-security-token": keys.token } : {}),
  }
  const names = Object.keys(headers)
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join("")
  const request = [method, url.pathname, url.search.slice(1), lines, names.join(";"), hash].join("\n")
  const scope = [time.slice(0, 8), region, "s3", "aws4_request"]
  const text = ["AWS4-HMAC-SHA256", time, scope.join("/"), hashOf(request)].join("\n")
  const key = scope.reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${keys.secret}`)
  const signature = hmac(key, text).toString("hex")
  const { host: _, ...sent } = headers
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${keys.id}/${scope.join("/")}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
  }
}

export function hashOf(bytes: Buffer | string): string {
  return createHash("sha256").update(bytes).digest("hex")
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest()
}
