// One folder: its sessions, and what its agents can use and may do.
import type { FunctionComponent } from "preact"
import { shortPath } from "#edge/web/base/format.ts"
import { html } from "#edge/web/base/html.ts"
import { address } from "#edge/web/base/router.ts"
import { Empty, useTitle } from "#edge/web/part/parts.ts"
import { lazy } from "#edge/web/store/lazy.ts"
import { may } from "#edge/web/store/person.ts"
import { SessionList } from "./session-list.ts"

/** `role`: who may see it, if not everybody. */
type Part = { title: string; role?: "member" | "admin"; View: FunctionComponent<{ folder: string }> }

/** By their names in the address. */
const parts: Record<string, Part> = {
  "": { title: "Sessions", View: SessionList as Part["View"] },
  mcp: {
    title: "MCP servers",
    View: lazy(async () => (await import("#edge/web/folder/mcp-view.ts")).McpView),
  },
  tools: {
    title: "Tools",
    View: lazy(async () => (await import("#edge/web/folder/tools-view.ts")).ToolsView),
  },
  skills: {
    title: "Skills",
    View: lazy(async () => (await import("#edge/web/folder/skills-view.ts")).SkillsView),
  },
  extensions: {
    title: "Extensions",
    role: "member",
    View: lazy(async () => (await import("#edge/web/folder/extensions-view.ts")).ExtensionsView),
  },
  agents: {
    title: "Agents",
    View: lazy(async () => (await import("#edge/web/folder/agents-view.ts")).AgentsView),
  },
  models: {
    title: "Models",
    View: lazy(async () => (await import("#edge/web/folder/models-view.ts")).ModelsView),
  },
  permissions: {
    title: "Permissions",
    View: lazy(async () => (await import("#edge/web/folder/permissions-view.ts")).PermissionsView),
  },
  trust: {
    title: "Trust",
    role: "admin",
    View: lazy(async () => (await import("#edge/web/folder/trust-view.ts")).TrustView),
  },
  settings: {
    title: "Settings",
    role: "member",
    View: lazy(async () => (await import("#edge/web/folder/settings-view.ts")).SettingsView),
  },
  stats: { title: "Stats", View: lazy(async () => (await import("./stats-view.ts")).FolderStats) },
}

export function FolderView({ folder, part }: { folder: string; part: string }) {
  const shown = Object.entries(parts).filter(([, { role }]) => !role || may(role))
  const known = new Map(shown).get(part)
  useTitle(`${known?.title ?? "Not found"} · ${shortPath(folder)}`)
  return html`<div class="view">
    <h1 title=${folder}>${shortPath(folder)}</h1>
    <nav class="parts" aria-label="Parts of the folder">
      ${shown.map(
        ([name, { title }]) =>
          html`<a
            key=${name}
            href=${name ? address("folder", folder, name) : address("folder", folder)}
            aria-current=${name === part ? "page" : undefined}
            >${title}</a
          >`,
      )}
    </nav>
    ${known ? html`<${known.View} key=${part} folder=${folder} />` : html`<${Empty}>There is no such view.<//>`}
  </div>`
}
