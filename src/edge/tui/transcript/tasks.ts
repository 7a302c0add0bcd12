// The sessions that do the task of a call: a line for each one that works, and notes about them.
import type { Line, View } from "#edge/tui/screen/line.ts"
import { safeLine } from "#edge/tui/screen/safe.ts"
import { cutTo } from "#edge/tui/screen/width.ts"

type Task = { agent: string; step?: string | undefined; calls: number; now: string }
export type Tasks = ReturnType<typeof createTasks>

/** At most so many are shown at once. */
const maxShown = 5

export function createTasks() {
  const working = new Map<string, Task>()
  const notes: string[] = []
  let calls = 0
  let hasBegun = false

  function linesOf(subject: string): string[] {
    const all = [...working.values()]
    const isNamed = all.length > 1 || !subject.startsWith(`${all[0]?.agent}: `)
    const shown = all.slice(0, maxShown).map((task) => lineOf(task, isNamed))
    const more = all.length - shown.length
    return [...notes, ...shown, ...(more ? [`and ${more} more`] : [])]
  }

  return Object.freeze({
    begin(id: string, { agent, step }: { agent: string; step?: string | undefined }): void {
      hasBegun = true
      working.set(id, { agent: safeLine(agent), step: step && safeLine(step), calls: 0, now: "" })
    },
    /** `text`: the call in words. */
    addCall(id: string, text: string): void {
      calls++
      const task = working.get(id)
      if (task) Object.assign(task, { calls: task.calls + 1, now: text })
    },
    /** What happens to a task now, until its next call. */
    tell(id: string, text: string): void {
      const task = working.get(id)
      if (task) task.now = safeLine(text)
    },
    end: (id: string) => void working.delete(id),
    note: (text: string) => void notes.push(safeLine(text)),
    /** Empty if there are no tasks. */
    count: () => (hasBegun ? countOf(calls) : ""),
    /** `subject`: what is above the lines. */
    lines(subject: string, { columns, paint }: View): Line[] {
      const lines = linesOf(subject)
      return lines.map((line, i) =>
        paint("dim", cutTo(`  ${i === lines.length - 1 ? "└" : "├"} ${line}`, columns)),
      )
    },
  })
}

function lineOf({ agent, step, calls, now }: Task, isNamed: boolean): string {
  const name = step ? `step ${step}, ${agent}: ` : isNamed ? `${agent}: ` : ""
  return name + [calls ? countOf(calls) : "", now || (calls ? "" : "thinking")].filter(Boolean).join(" · ")
}

function countOf(calls: number): string {
  return calls === 1 ? "1 call" : calls ? `${calls} calls` : "no calls"
}
