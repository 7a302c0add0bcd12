// A session of the browser tools through the gate, in a real Chromium, with pages on loopback.
import assert from "node:assert/strict"
import * as Browsers from "#ability/browser/browsers.ts"
import type { Result, Slots } from "#ability/tool/run-tool.ts"
import type { Json } from "#ability/tool/tool.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import { call, inProject } from "../tool/harness.ts"
import { granting, type Site } from "../web/pages.ts"

export type Browse = {
  /** Calls the tool `browser_NAME`; the text of its result. */
  use(name: string, args?: Json): Promise<string>
  /** The same, for a call that fails. */
  fail(name: string, args?: Json): Promise<string>
  result(name: string, args?: Json): Promise<Result>
  pid(): number | undefined
}

/** `slots` default to: all is allowed, and the site may be at a private address. */
export async function browsing(
  web: Site,
  work: (browse: Browse) => Promise<void>,
  slots: Slots = granting(web),
): Promise<void> {
  await inProject(async () => {
    await loadToolGroups()
    const result = (name: string, args: Json = {}) => call(`browser_${name}`, args, { slots })
    const expecting =
      (status: string) =>
      async (name: string, args: Json = {}) => {
        const got = await result(name, args)
        assert.equal(got.status, status, got.text)
        return got.text
      }
    const pid = () => Browsers.get("ses_1")?.pid()
    await work({ use: expecting("success"), fail: expecting("error"), result, pid })
  })
}

/** The reference of the element whose line has this text. */
export function refOf(text: string, named: string): string {
  const found = [...text.matchAll(/\[(e\d+) ([^\]]+)\]/g)].find(([, , about]) => about!.includes(named))
  assert.ok(found, `${named} is not in ${text}`)
  return found[1]!
}
