// The types of skills: instructions for one kind of work, with scripts, documents and assets.

/** `error`: something is not used as it was written. `breach`: it is used, although the specification does not allow it.
 * `warning`: it is allowed, but unwise. */
export type SkillProblem = { level: "error" | "breach" | "warning"; line: number; message: string }

/** The content of a SKILL.md. */
export type SkillText = {
  name: string
  description: string
  license?: string
  compatibility?: string
  metadata: Record<string, string>
  /** The tools that its author suggests. Information only: no skill gives itself rights. */
  allowedTools: string[]
  /** Only a person may invoke it. */
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
  /** The program that runs it: "node", "python3", … or "" if it runs by itself. */
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
  /** The real path of the file. */
  place: string
  /** The folder for its relative paths. */
  folder: string
  /** The folder that must contain its real files. */
  root: string
  scripts: SkillScript[]
  references: SkillReference[]
  assets: string[]
  problems: SkillProblem[]
}
