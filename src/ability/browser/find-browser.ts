// Finds what the browser tools need: the package playwright-core, which is not installed with the program, and a Chromium.
import { accessSync, constants, readdirSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { delimiter, isAbsolute, join } from "node:path"
import * as Env from "#kernel/process/env.ts"
import * as OptionalPackage from "#kernel/process/optional-package.ts"

export type Found = { library: string; chromium: string }
/** `todo`: the command or step that adds what is missing. */
export type Missing = { what: string; todo: string }

/** The range of `peerDependencies` in package.json allows this version. */
const library = { name: "playwright-core", version: "1.64.1", folder: "browser" }
const variable = "VITAMIN_BROWSER"
const names = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
]
const usualPaths = [
  "/snap/bin/chromium",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
  "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
]

/** Reads folders, and loads nothing. */
export function findBrowser(): Found | Missing[] {
  const found = { library: OptionalPackage.find(library), chromium: findChromium() }
  const missing: Missing[] = []
  if (!found.library)
    missing.push({ what: `${library.name} is not installed`, todo: OptionalPackage.installCommand(library) })
  if (!found.chromium) missing.push(noChromium())
  return missing.length ? missing : (found as Found)
}

/** `VITAMIN_BROWSER`, else the first one on PATH, in a usual place, or among the downloads of Playwright. */
function findChromium(): string | undefined {
  const named = Env.get(variable)
  if (named) return isProgram(named) ? named : undefined
  const onPath = (Env.get("PATH") ?? "").split(delimiter).filter(isAbsolute)
  const places = names.flatMap((name) => onPath.map((place) => join(place, name)))
  return [...places, ...usualPaths, ...downloaded()].find(isProgram)
}

function noChromium(): Missing {
  const named = Env.get(variable)
  if (named)
    return {
      what: `${variable} is ${JSON.stringify(named)}, and no program is there`,
      todo: "correct or unset it",
    }
  const todo = `install chromium (Debian, Ubuntu: apt install chromium), or set ${variable} to the path of a Chromium or Chrome`
  return { what: "there is no Chromium", todo }
}

function downloaded(): string[] {
  const cache = process.platform === "darwin" ? "Library/Caches" : ".cache"
  const place = join(homedir(), cache, "ms-playwright")
  const builds = list(place).filter((name) => /^chromium-\d+$/.test(name))
  const programs = [
    "chrome-linux/chrome",
    "chrome-linux64/chrome",
    "chrome-mac/Chromium.app/Contents/MacOS/Chromium",
  ]
  return builds.reverse().flatMap((build) => programs.map((program) => join(place, build, program)))
}

function list(place: string): string[] {
  try {
    return readdirSync(place).sort()
  } catch {
    return []
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
