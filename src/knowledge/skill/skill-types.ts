// The words of skills: instructions for one kind of work, with the scripts, documents and assets that go with them.

/** An error: something is not used as it was written. A breach: it is, though the specification does not allow it. A
 * warning: it is only unwise. */
export type SkillProblem = { level: "error" | "breach" | "warning"; line: number; message: string }

/** What a SKILL.md says. */
export type SkillText = {
  name: string
  description: string
  license?: string
  compatibility?: string
  metadata: Record<string, string>
  /** What its author thinks it may use. Only told: no skill gives itself rights. */
  allowedTools: string[]
  /** Only a person calls for it. */
  isManual: boolean
  /** MCP servers that are started when it is used, by name, as they were written. */
  mcp: Record<string, unknown>
  body: string
}

export type SkillScript = {
  /** Its file without the extension. */
  name: string
  file: string
  /** The comment that it begins with. */
  description: string
  /** What runs it: "node", "python3", … or nothing where it runs by itself. */
  runner: string
}

/** A document that the body of a skill links to. */
export type SkillReference = {
  skill: string
  displayText: string
  /** As it was written. */
  relativePath: string
  file: string
}

export type SkillInfo = SkillText & {
  file: string
  /** SHA-256 of the file that it was read from. */
  hash: string
  /** Where the file really is. */
  place: string
  /** What its relative paths start from. */
  folder: string
  /** Where its files must really be. */
  root: string
  scripts: SkillScript[]
  references: SkillReference[]
  assets: string[]
  problems: SkillProblem[]
}
