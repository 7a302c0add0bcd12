// Bytes and dates inside JSON: images of a request to a model.
type Encoded = { $bytes: string }

export function encodeBytes(value: unknown): unknown {
  if (value instanceof Uint8Array) return { $bytes: Buffer.from(value).toString("base64") } satisfies Encoded
  if (value instanceof URL) return value.href
  if (Array.isArray(value)) return value.map(encodeBytes)
  if (typeof value !== "object" || value === null || value instanceof Date) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, encodeBytes(item)]))
}

export function decodeBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decodeBytes)
  if (typeof value !== "object" || value === null) return value
  const { $bytes } = value as Partial<Encoded>
  if (typeof $bytes === "string") return new Uint8Array(Buffer.from($bytes, "base64"))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, decodeBytes(item)]))
}
