// One line about an attachment, or why it failed: `· attached src/app.ts:10-20`. The words are not escaped.

type File = {
  path: string
  startLine?: number | undefined
  endLine?: number | undefined
  status: string
  error?: string | undefined
}
type Image = {
  source: { kind: string; value: string }
  usedMode?: string | undefined
  state: string
  error?: string | undefined
}
type Resource = { serverName: string; resourceUri: string; error?: string | undefined; retrievedAt: number }
type Attachment =
  | { type: "file_reference"; data: File }
  | { type: "image"; data: Image }
  | { type: "mcp_resource"; data: Resource }

/** Undefined for attachments that are still being resolved. */
export function attachmentWords({ type, data }: Attachment): string | undefined {
  if (type === "mcp_resource") return resourceWords(data)
  const isFile = type === "file_reference"
  const state = isFile ? data.status : data.state
  // The model itself will see the image.
  if (state === "pending" && (isFile || !data.usedMode)) return undefined
  const name = isFile ? fileName(data) : imageName(data)
  return state === "failed"
    ? `✗ ${name} could not be attached: ${data.error ?? "the reason is not known"}`
    : `· attached ${name}`
}

/** `src/app.ts`, `src/app.ts:10`, `src/app.ts:10-20`, `src/app.ts:10-` */
export function fileName({ path, startLine, endLine }: Pick<File, "path" | "startLine" | "endLine">): string {
  if (startLine === undefined && endLine === undefined) return path
  return startLine === endLine ? `${path}:${startLine}` : `${path}:${startLine ?? 1}-${endLine ?? ""}`
}

function resourceWords({ serverName, resourceUri, error, retrievedAt }: Resource): string | undefined {
  if (error === undefined && !retrievedAt) return undefined
  const name = `${serverName}:${resourceUri}`
  return error === undefined ? `· attached ${name}` : `✗ ${name} could not be attached: ${error}`
}

function imageName({ source, usedMode }: Image): string {
  const isShort = source.kind !== "base64" && !source.value.startsWith("data:")
  return `${isShort ? source.value : "an image"}${usedMode ? ` (${usedMode})` : ""}`
}
