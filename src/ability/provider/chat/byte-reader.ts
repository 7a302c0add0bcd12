// The bytes of an answer, asked for one piece after the other.
import type { Readable } from "node:stream"

export type ByteReader = {
  /** Undefined at the end. What breaks the connection is thrown. */
  read(): Promise<Uint8Array | undefined>
  cancel(): void
}

export function createByteReader(body: Readable): ByteReader {
  let wake = () => {}
  let ended = false
  let failed: { error: unknown } | undefined
  body
    .on("readable", () => wake())
    .on("end", () => {
      ended = true
      wake()
    })
    .on("error", (error) => fail(error))
    .on("close", () => fail(new Error("The connection was closed.")))

  function fail(error: unknown) {
    if (!ended) failed ??= { error }
    wake()
  }

  async function read(): Promise<Uint8Array | undefined> {
    for (;;) {
      const bytes: Uint8Array | null = body.read()
      if (bytes) return bytes
      if (ended) return undefined
      if (failed) throw failed.error
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  return Object.freeze({ read, cancel: () => void body.destroy() })
}
