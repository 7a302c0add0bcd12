// The lines of `vitamin doctor` about skills: how many there are, and all their problems.

import { countOf } from "#edge/cli/terminal/count-of.ts"
import * as Config from "#kernel/config/config.ts"
import { Instance } from "#kernel/instance.ts"
import type { Finding } from "./doctor.ts"

const about = "skills"

export async function findSkillFaults(directory: string): Promise<Finding[]> {
  const isConfigured = await Config.inspect({ directory }).then(
    () => true,
    () => false,
  )
  // The problem with the configuration was reported already.
  if (!isConfigured) return []
  const Skill = await import("#ability/skill/skill.ts")
  try {
    const { skills, problems } = await Instance.provide({
      directory,
      fn: () => Skill.list({ isQuiet: true }),
    })
    const faults = problems.map(
      ({ file, message }): Finding => ({ state: "note", about, text: `${file}: ${message}` }),
    )
    return [{ state: "ok", about, text: countOf(skills.length, "skill") }, ...faults]
  } finally {
    await Instance.disposeAll()
  }
}
