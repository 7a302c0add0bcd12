// Opens an address in the person's browser. Other users of the machine can read command lines, and the address signs in;
// so the browser is given a private file that leads to the address.
import { spawn } from "node:child_process"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Env from "#kernel/process/env.ts"
import * as Global from "#kernel/process/global.ts"
import * as PrivateFile from "#kernel/process/private-file.ts"

/** A starter that still runs after this time has opened something. */
const patience = 3_000

/** Returns false if no browser could be started. */
export async function openBrowser(url: string): Promise<boolean> {
  const file = join(Global.state(), "open-page.html")
  const target = url.replaceAll("&", "&amp;").replaceAll('"', "&quot;")
  const html = `<!doctype html><meta charset="utf-8"><title>vitamin</title><meta http-equiv="refresh" content="0;url=${target}">\n`
  PrivateFile.write(file, html, { replace: true })
  for (const [command, ...args] of starters()) if (await hasStarted(command!, [...args, file])) return true
  return false
}

function starters(): string[][] {
  const chosen = Env.get("BROWSER")
  if (chosen) return [[chosen]]
  if (process.platform === "darwin") return [["open"]]
  // Without a display xdg-open would start a browser for terminals.
  return Env.get("DISPLAY") || Env.get("WAYLAND_DISPLAY") ? [["xdg-open"], ["sensible-browser"]] : []
}

async function hasStarted(command: string, args: string[]): Promise<boolean> {
  const child = spawn(command, args, { stdio: "ignore", detached: true })
  child.unref()
  const ended = new Promise<boolean>((resolve) => {
    child.once("error", () => resolve(false))
    child.once("exit", (code) => resolve(code === 0))
  })
  return Promise.race([ended, sleep(patience, true, { ref: false })])
}
