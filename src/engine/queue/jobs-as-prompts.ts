// Jobs for a copy of all records: a job is a row of the queue of its database too, which is not copied. So the copy has each
// as an ordinary prompt that has not begun. Whoever opens its session there reports it as skipped, and nothing is lost.
import type { Backend, Key } from "#kernel/storage/storage.ts"

type Prompts = {
  /** Without jobs, and with their prompts. */
  records: Backend
  /** The sessions of the jobs, one for each job. */
  sessions: string[]
}

/** Nobody may change the jobs meanwhile. */
export async function jobsAsPrompts(records: Backend): Promise<Prompts> {
  const jobs = new Map<string, Key>()
  for (const sessionId of await records.list(["job"]))
    for (const id of await records.list(["job", sessionId])) jobs.set(id, ["job", sessionId, id])
  const jobOf = ([area, id, ...rest]: Key) => (area === "prompt" && !rest.length ? jobs.get(id!) : undefined)

  async function list(prefix: Key): Promise<string[]> {
    const names = await records.list(prefix)
    if (!prefix.length) return [...new Set(names.map((name) => (name === "job" ? "prompt" : name)))].sort()
    return prefix.length === 1 && prefix[0] === "prompt" ? [...names, ...jobs.keys()].sort() : names
  }

  async function read<T>(key: Key): Promise<T> {
    const job = jobOf(key)
    if (!job) return records.read<T>(key)
    const { isJob: _, ...prompt } = await records.read<{ isJob?: boolean }>(job)
    return prompt as T
  }

  return { records: { ...records, list, read }, sessions: [...jobs.values()].map(([, id]) => id!) }
}
