// The parts of a prompt: text, files, images, resources.
import { z } from "zod"
import type * as Message from "#knowledge/message/message.ts"
import { about } from "#util/about.ts"
import { NamedError } from "#util/error.ts"
import { shorten } from "#util/plain-text.ts"

const Text = z.object({ type: z.literal("text"), text: z.string() })
const FileReference = z.object({
  type: z.literal("file_reference"),
  path: z.string().min(1).describe("from the folder of the session, or absolute"),
  startLine: z.number().optional().describe("first line, from 1"),
  endLine: z.number().optional().describe("last line, included"),
})
const Image = z.object({
  type: z.literal("image"),
  source: z.object({
    kind: z.enum(["url", "base64", "file"]),
    value: z.string().min(1).describe("the address, the bytes or the path"),
    mimeType: z.string().optional(),
  }),
  mode: z.enum(["vision", "ocr", "auto"]).optional().describe("how it is recognised"),
  stored: z
    .object({ hash: z.string(), mimeType: z.string() })
    .optional()
    .describe("the bytes are kept beside the session under this SHA-256, which the source names"),
})
const McpResource = z.object({
  type: z.literal("mcp_resource"),
  serverName: z.string().min(1).max(500).describe("the id of the MCP server"),
  resourceUri: z.string().min(1).max(2_000),
})

export const PromptPart = z.discriminatedUnion("type", [Text, FileReference, Image, McpResource])
export type PromptPart = z.infer<typeof PromptPart>
/** A prompt that was accepted and did not run. */
export const SkippedPrompt = z.object({
  id: about("The prompt, to send it again.", z.string()),
  time: z.number().describe("when it was accepted, in milliseconds since 1970"),
  text: z.string().describe("its words, at most 1,000 characters"),
  reason: z.string().describe("why it did not run"),
})
export type SkippedPrompt = z.infer<typeof SkippedPrompt>
export type Reference = z.infer<typeof FileReference>
export type ResourcePart = z.infer<typeof McpResource>
export type Attachment = Exclude<PromptPart, { type: "text" }>

export class EmptyPrompt extends NamedError {
  constructor() {
    super("Session.InvalidPrompt", "A prompt needs text, or something attached.")
  }
}

/** The text, then the parts. Throws `EmptyPrompt` if they are all empty. */
export function partsOf({ text, parts = [] }: { text?: string; parts?: PromptPart[] }): PromptPart[] {
  const all: PromptPart[] = [...(text === undefined ? [] : [{ type: "text" as const, text }]), ...parts]
  if (all.every((part) => part.type === "text" && !part.text.trim())) throw new EmptyPrompt()
  return all
}

export function wordsOf(parts: PromptPart[]): Message.Part[] {
  return parts.flatMap((part) => (part.type === "text" && part.text.trim() ? [part] : []))
}

/** A title from the prompt's own text; no model is asked for it. */
export function titleOf(parts: PromptPart[]): string {
  const words = wordsOf(parts)
    .map((part) => part.text)
    .join(" ")
    .trim()
  return shorten((words || nameOf(parts)).split("\n", 1)[0]!.replace(/\s+/g, " ").trim(), 60)
}

function nameOf(parts: PromptPart[]): string {
  const first = parts.find((part) => part.type !== "text")
  if (first?.type === "file_reference") return `@${first.path}`
  if (first?.type === "mcp_resource") return `@${first.serverName}:${first.resourceUri}`
  return first?.source.kind === "file" ? `@${first.source.value}` : "image"
}
