// Where the servers of a database keep the bytes of objects: in its tables, or in a bucket of an S3-like store. The first
// server writes it into the tables, and a server with another setting is refused: it would not find the bytes.
import * as Env from "#kernel/process/env.ts"
import { NamedError } from "#util/error.ts"

class InvalidPlace extends NamedError {
  constructor(text: string) {
    super(
      "Objects.InvalidPlace",
      `VITAMIN_OBJECTS is refused: ${JSON.stringify(text.slice(0, 80))} is not s3://BUCKET or s3://BUCKET/PREFIX, with letters, digits, dots, hyphens and underscores. Keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    )
  }
}

const form = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]+)*$/

/** `s3://bucket/prefix`; undefined if the bytes are in the tables. */
export function readObjectPlace(): string | undefined {
  const text = Env.get("VITAMIN_OBJECTS")
  if (text === undefined || text === "") return undefined
  const place = text.replace(/\/$/, "")
  // "." and ".." would be resolved as paths.
  if (!form.test(place) || /\/\.{1,2}(\/|$)/.test(place)) throw new InvalidPlace(text)
  return place
}
