// The schema of a model that a configuration declares under its provider.
import { z } from "zod"
import { about } from "#util/about.ts"

const price = z.number().nonnegative()

/** A model that the built-in list does not know, or facts that differ from that list. */
export const DeclaredModel = z.strictObject({
  name: about("Name that people see.", z.string().optional()),
  context: about("Tokens that fit its window.", z.number().int().positive().optional(), 128_000),
  output: about(
    "Tokens that one answer can have. Without it no limit is sent, and a quarter of the window is reserved.",
    z.number().int().positive().optional(),
  ),
  cost: about(
    "US dollars for a million tokens.",
    z
      .strictObject({
        input: about("What is sent.", z.number().nonnegative()),
        output: about("What is answered.", z.number().nonnegative()),
        cacheRead: about("What is read from the provider's cache.", price.optional()),
        cacheWrite: about("What is written to the provider's cache.", price.optional()),
      })
      .optional(),
  ),
  tools: about("Whether it calls tools.", z.boolean().optional(), true),
  reasoning: about("Whether it reasons before it answers.", z.boolean().optional(), false),
  temperature: about("Whether it takes a temperature.", z.boolean().optional(), true),
  input: about(
    "What it can be shown.",
    z.array(z.enum(["text", "image", "pdf", "audio", "video"])).optional(),
    ["text"],
  ),
  api: about(
    "The API that it is asked through, if that is not its provider's.",
    z.enum(["chat", "responses", "messages", "gemini"]).optional(),
  ),
  gpu: about(
    '`"auto"`: a GGUF file that runs here may use the GPU.',
    z.literal(["auto", false]).optional(),
    false,
  ),
})
export type DeclaredModel = z.infer<typeof DeclaredModel>
