// How many of two hundred calls of a coding session ask the person: by the default rules, with "accept edits", and with the
// preset "sandboxed". The network of a command is asked for when it connects, so those commands count as questions.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { judgeStep } from "#ability/call/judge-step.ts"
import * as Grant from "#ability/permission/grant.ts"
import type { Rule } from "#ability/permission/permission.ts"
import { stepOf } from "#ability/tool/run-tool.ts"
import { bootstrap } from "#engine/host/bootstrap.ts"
import { createRights, type Preset } from "#engine/rights/rights.ts"
import * as Session from "#engine/session/session.ts"
import { codingCalls } from "./coding-calls.ts"

/** Commands of the list that connect to a host. */
const connects = /^(npm (install|ci)|curl|git push)\b/

const root = mkdtempSync(join(tmpdir(), "vitamin-bench-"))
for (const name of ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"])
  process.env[name] = join(root, name)
const project = join(root, "project")
for (const { args } of codingCalls) {
  const path = args.path as string | undefined
  if (!path?.includes(".") || path === ".") continue
  mkdirSync(dirname(join(project, path)), { recursive: true })
  writeFileSync(join(project, path), Array.from({ length: 400 }, (_, i) => `line ${i}\n`).join(""))
}

execFileSync("git", ["init", "-q"], { cwd: project })

try {
  await bootstrap(project, async () => {
    const session = await Session.create()
    const agent = { id: session.agent, permissions: [] }
    const count = async (options: { preset?: Preset; rules?: Rule[] }) => {
      const { decide } = await createRights({ session, agent, ...options }).now()
      let [asks, denied] = [0, 0]
      for (const [i, { tool, args }] of codingCalls.entries()) {
        const context = {
          sessionId: session.id,
          messageId: "m",
          callId: String(i),
          signal: new AbortController().signal,
        }
        const step = await stepOf({ id: String(i), name: tool, arguments: args } as never, context)
        const { action } = await judgeStep(step, decide)
        const leaves = options.preset === "sandboxed" && connects.test(String(args.command ?? ""))
        if (action === "deny") denied++
        else if (action === "ask" || leaves) asks++
      }
      return { asks, denied }
    }
    console.log(`calls: ${codingCalls.length}`)
    console.log("ask          ", await count({}))
    console.log("accept edits ", await count({ rules: Grant.allEdits() }))
    console.log("sandboxed    ", await count({ preset: "sandboxed" }))
  })
} finally {
  rmSync(root, { recursive: true, force: true })
}
