// Keys that this version documents but does not use. Values that change nothing load; all others are refused, so that
// a setting is never ignored silently.
import { isDeepStrictEqual } from "node:util"
import type { z } from "zod"

const noSandbox =
  "this version has no sandbox, and nothing runs without the one that was asked for; set adapters.sandbox.enabled to false and remove this"
const noScripts = "this version keeps no promoted scripts"

const unread: Record<string, { path: string[]; usual: unknown[]; reason: string }[]> = {
  agent: [
    {
      path: ["rules"],
      usual: [[]],
      reason:
        "this version does not route requests by rules; remove it and name the agent with --agent or agent.name",
    },
  ],
  adapters: [
    { path: ["acp", "transport"], usual: ["stdio"], reason: 'this version speaks ACP over "stdio" only' },
    { path: ["acp", "port"], usual: [], reason: "ACP over stdio has no port; remove it" },
    {
      path: ["sandbox", "enabled"],
      usual: [false],
      reason:
        "this version has no sandbox, and nothing runs without the one that was asked for; set it to false",
    },
    { path: ["sandbox", "security", "allowWrite"], usual: [[], ["./output"]], reason: noSandbox },
    { path: ["sandbox", "security", "denyRead"], usual: [["~/.ssh", "~/.aws", ".env"]], reason: noSandbox },
    { path: ["sandbox", "security", "allowedDomains"], usual: [[]], reason: noSandbox },
  ],
  scripts: [
    { path: ["persistence"], usual: ["file"], reason: noScripts },
    { path: ["path"], usual: [".plaited/scripts.json"], reason: noScripts },
    { path: ["expirationDays"], usual: [30], reason: noScripts },
  ],
}

/** A check for the part of the configuration below this key. */
export function refuseUnread(key: string): (value: unknown, context: z.RefinementCtx) => void {
  return (value, context) => {
    for (const { path, usual, reason } of unread[key] ?? []) {
      const given = path.reduce<unknown>(
        (at, step) => (at as Record<string, unknown> | undefined)?.[step],
        value,
      )
      if (given === undefined || usual.some((one) => isDeepStrictEqual(one, given))) continue
      const loads = usual.length ? `; only ${usual.map((one) => JSON.stringify(one)).join(" or ")} loads` : ""
      context.addIssue({ code: "custom", path, message: `${reason}${loads}` })
    }
  }
}
