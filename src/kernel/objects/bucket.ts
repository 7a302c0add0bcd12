// Bytes in a bucket of an S3-like store, each under a key that is used once. The address and the keys come from the
// variables that tools for AWS use.
import { retrying } from "#kernel/database/database.ts"
import * as Env from "#kernel/process/env.ts"
import * as Secret from "#kernel/secret/secret.ts"
import { errorCode, errorText, NamedError } from "#util/error.ts"
import { hashOf, type Keys, signRequest } from "./sign-request.ts"

export type Bucket = Readonly<{
  /** Bucket and host, for people. */
  shown: string
  put(key: string, bytes: Buffer): Promise<void>
  /** Undefined if there is none. `size` is what is expected: large objects may take longer. */
  get(key: string, size: number): Promise<Buffer | undefined>
  remove(key: string): Promise<void>
  /** Throws if the bucket cannot be used. */
  check(): Promise<void>
}>

class Unusable extends NamedError {
  /** Whether the same request may succeed soon. */
  readonly mayPass: boolean

  constructor(shown: string, reason: string, mayPass: boolean) {
    super("Objects.Unusable", `The objects in ${shown} cannot be used: ${reason}`, { shown })
    this.mayPass = mayPass
  }
}

type Asked = { body?: Buffer; query?: string; size?: number }

/** Milliseconds for a request, and more for each byte. */
const shortest = 10_000
const bytesPerMillisecond = 256
const noBytes: Buffer = Buffer.alloc(0)

/** `place`: `s3://bucket/prefix`. */
export function createBucket(place: string): Bucket {
  const [, name, prefix = ""] = /^s3:\/\/([^/]+)(\/.*)?$/.exec(place)!
  const region = Env.get("AWS_REGION") || Env.get("AWS_DEFAULT_REGION") || "us-east-1"
  const { url: base, host } = addressOf(name!, region)
  const shown = `${place} at ${host}`
  const keys = readKeys(shown)

  async function ask(method: string, path: string, options: Asked = {}): Promise<Buffer | undefined> {
    const { body = noBytes, query = "", size = body.length } = options
    const url = new URL(`${base}${path}${query}`)
    const headers = signRequest({ method, url, hash: hashOf(body), keys, region, now: new Date() })
    const signal = AbortSignal.timeout(shortest + Math.ceil(size / bytesPerMillisecond))
    try {
      const sent = method === "PUT" ? { body: new Uint8Array(body) } : {}
      const response = await fetch(url, { method, headers, signal, redirect: "manual", ...sent })
      const bytes = Buffer.from(await response.arrayBuffer())
      if (response.ok) return bytes
      const code = /<Code>([^<]+)<\/Code>/.exec(bytes.toString())?.[1]
      if (response.status === 404 && method !== "PUT" && code !== "NoSuchBucket" && path) return undefined
      throw new Unusable(
        shown,
        reasonOf(response.status, code),
        response.status >= 500 || code === "SlowDown",
      )
    } catch (error) {
      throw error instanceof Unusable ? error : lost(shown, error)
    }
  }

  const send: typeof ask = (...given) =>
    retrying(
      () => ask(...given),
      (error) => error instanceof Unusable && error.mayPass,
    )
  const pathOf = (key: string) => `${prefix}/${key}`

  return Object.freeze<Bucket>({
    shown,
    put: async (key, bytes) => void (await send("PUT", pathOf(key), { body: bytes })),
    get: (key, size) => send("GET", pathOf(key), { size }),
    remove: async (key) => void (await send("DELETE", pathOf(key))),
    // A list of nothing: no key begins like this.
    check: async () => {
      const begin = encodeURIComponent(pathOf("check").slice(1))
      await ask("GET", "", { query: `?list-type=2&max-keys=1&prefix=${begin}` })
    },
  })
}

/** With an address of its own, the bucket is a part of the path: most S3-like servers know nothing else. */
function addressOf(name: string, region: string): { url: string; host: string } {
  const own = Env.get("AWS_ENDPOINT_URL_S3") || Env.get("AWS_ENDPOINT_URL")
  const given = own ?? `https://s3.${region}.amazonaws.com`
  const parsed = URL.parse(given)
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.search)
    throw new NamedError(
      "Objects.InvalidAddress",
      "AWS_ENDPOINT_URL_S3 is refused: it is not an address like https://s3.example.com",
    )
  return { url: `${given.replace(/\/$/, "")}/${name}`, host: parsed.host }
}

function readKeys(shown: string): Keys {
  const id = Env.get("AWS_ACCESS_KEY_ID")
  const secret = Env.get("AWS_SECRET_ACCESS_KEY")
  const token = Env.get("AWS_SESSION_TOKEN")
  if (!id || !secret)
    throw new Unusable(shown, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set", false)
  Secret.register(secret, "key of the bucket")
  Secret.register(token, "token of the bucket")
  return { id, secret, token }
}

const hints: Record<string, string> = {
  NoSuchBucket: "there is no such bucket; create it first",
  InvalidAccessKeyId: "it does not know the key (InvalidAccessKeyId); correct AWS_ACCESS_KEY_ID",
  SignatureDoesNotMatch: "the key is wrong (SignatureDoesNotMatch); correct AWS_SECRET_ACCESS_KEY",
  ExpiredToken: "the token has ended (ExpiredToken); give another AWS_SESSION_TOKEN",
  AccessDenied:
    "the key may not do that (AccessDenied): it needs s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket",
  RequestTimeTooSkewed: "the clock of this machine is wrong (RequestTimeTooSkewed); set it (NTP)",
  AuthorizationHeaderMalformed: "the bucket is in another region; correct AWS_REGION",
  PermanentRedirect: "the bucket is in another region; correct AWS_REGION",
}

function reasonOf(status: number, code: string | undefined): string {
  return hints[code ?? ""] ?? `it answered ${status}${code ? ` (${code})` : ""}`
}

function lost(shown: string, error: unknown): Unusable {
  if ((error as Error).name === "TimeoutError")
    return new Unusable(shown, "it did not answer in time; look at the network in between", false)
  const cause = (error as { cause?: unknown }).cause ?? error
  const code = errorCode(cause)
  if (code === "ECONNREFUSED" || code === "ENOTFOUND")
    return new Unusable(shown, `nobody answers there (${code}); start it, or correct the address`, true)
  return new Unusable(shown, errorText(cause), true)
}
