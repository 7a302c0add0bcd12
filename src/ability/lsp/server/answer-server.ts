// The answers to requests of a language server. It gets its settings and folders; what it wants to change or show is
// declined: files change only through tools, and nobody looks at a window.
import { basename } from "node:path"
import { pathToFileURL } from "node:url"

const maxItems = 1_000

/** Undefined for a method that is not known. */
export function answerServer(
  options: { root: string; settings: unknown },
  method: string,
  params: unknown,
): unknown {
  switch (method) {
    case "workspace/configuration":
      return itemsOf(params).map(({ section }) => sectionOf(options.settings, section))
    case "workspace/workspaceFolders":
      return [{ uri: pathToFileURL(options.root).href, name: basename(options.root) }]
    case "workspace/applyEdit":
      return { applied: false, failureReason: "only tool calls change files" }
    case "window/showDocument":
      return { success: false }
    case "client/registerCapability":
    case "client/unregisterCapability":
    case "window/showMessageRequest":
    case "window/workDoneProgress/create":
      return null
    default:
      return /^workspace\/(\w+\/)?refresh$/.test(method) ? null : undefined
  }
}

function itemsOf(params: unknown): { section?: unknown }[] {
  const { items } = (params ?? {}) as { items?: unknown }
  return Array.isArray(items) ? items.slice(0, maxItems).map((item) => item ?? {}) : []
}

/** `python.analysis` is the member `analysis` of the member `python`. */
function sectionOf(settings: unknown, section: unknown): unknown {
  if (typeof section !== "string") return settings ?? null
  let at = settings
  for (const name of section.split("."))
    at =
      typeof at === "object" && at !== null && Object.hasOwn(at, name)
        ? at[name as keyof typeof at]
        : undefined
  return at ?? null
}
