// The line of `vitamin doctor` about PDF files in folders of documents.
import * as OptionalPackage from "#kernel/process/optional-package.ts"
import { hasPdf, pdfPackage } from "#knowledge/documents/pdf-reader.ts"
import type { Finding } from "./doctor.ts"

export async function findPdf(): Promise<Finding[]> {
  const about = "PDF files"
  const { name } = pdfPackage
  if (hasPdf()) return [{ state: "ok", about, text: `can be read (${name}), for the agent librarian` }]
  const text = `are not indexed; not installed: ${name}`
  return [{ state: "note", about, text, todo: OptionalPackage.installCommand(pdfPackage) }]
}
