// The languages of promoted scripts, by the ending of their files, and how each program takes its code from stdin: so what
// runs is what was reviewed, and no file in between can be changed.
import { createHash } from "node:crypto"
import { quoteWord } from "#util/quote-word.ts"

export const languages = ["ts", "js", "sh", "py", "rb", "pl"] as const
export type Language = (typeof languages)[number]

const programs: Record<Language, string> = {
  ts: "node --input-type=module-typescript -",
  js: "node -",
  sh: "bash -s --",
  py: "python3 -",
  rb: "ruby -",
  pl: "perl -",
}
const endings: Record<string, Language> = { mts: "ts", mjs: "js", cjs: "js", bash: "sh" }

/** The language of a file, if scripts can have it. */
export function languageOf(ending: string): Language | undefined {
  const name = endings[ending] ?? ending
  return languages.find((language) => language === name)
}

/** The command for bash that runs code with arguments. */
export function commandOf(
  { language, code }: { language: Language; code: readonly string[] },
  args: readonly string[],
): string {
  const text = code.join("\n")
  // No code can contain its own hash.
  const end = `END_${createHash("sha256").update(text).digest("hex")}`
  const words = [programs[language], ...args.map(quoteWord)].join(" ")
  return `${words} <<'${end}'\n${text}\n${end}`
}
