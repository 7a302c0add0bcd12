// Reads a file that a person wants to promote. A script is one file: what it would import beside it is neither kept nor
// reviewed with it.
import { basename, extname } from "node:path"
import { readSmallFile } from "#kernel/schema/read-file.ts"
import { firstComment } from "#knowledge/skill/skill-files.ts"
import { errorText, NamedError } from "#util/error.ts"
import { languageOf, languages } from "./languages.ts"
import { Info } from "./script.ts"

/** An argument of a program may have at most 128 KB, and the code is part of one. */
const maxBytes = 64 << 10
const besideIt = /(?:\bfrom|\bimport|\brequire|\bURL)\s*\(?\s*["'`]\.{1,2}\//

class NotPromoted extends NamedError {
  constructor(file: string, reason: string) {
    super("Script.NotPromoted", `${file} cannot be promoted: ${reason}`, { file })
  }
}

/** Without a description, the comment that the file begins with is taken. */
export async function readCandidate(
  file: string,
  given: { name?: string | undefined; description?: string | undefined },
): Promise<Info> {
  const ending = extname(file)
  const language = languageOf(ending.slice(1))
  if (!language)
    throw new NotPromoted(
      file,
      `its name must end with one of ${languages.map((one) => `.${one}`).join(", ")}`,
    )
  const text = (await contentOf(file)).toString()
  if (text.includes("\0")) throw new NotPromoted(file, "it has NUL bytes and is no text")
  if (besideIt.test(text)) throw new NotPromoted(file, "it imports a file beside it; a script is one file")
  const read = Info.safeParse({
    name: given.name ?? basename(file, ending).toLowerCase(),
    description: given.description ?? firstComment(text),
    language,
    code: text.replace(/\n$/, "").split("\n"),
  })
  if (read.success) return read.data
  const { path, message } = read.error.issues[0]!
  throw new NotPromoted(file, `${path.join(".")}: ${message}`)
}

async function contentOf(file: string): Promise<Buffer> {
  const bytes = await readSmallFile(file, undefined, maxBytes).catch((error) => {
    throw new NotPromoted(file, errorText(error))
  })
  if (bytes) return bytes
  throw new NotPromoted(file, "it does not exist")
}
