// The panels of a session. The code of each is loaded when it is first opened.
import type { FunctionComponent } from "preact"
import { lazy } from "#edge/web/store/lazy.ts"
import type { OpenSession } from "#edge/web/store/open-session.ts"

type Panel = { title: string; View: FunctionComponent<{ open: OpenSession }> }

/** By their names in the address. */
export const panels: Readonly<Record<string, Panel>> = {
  changes: { title: "Changes", View: lazy(async () => (await import("./changes-panel.ts")).ChangesPanel) },
  plan: { title: "Plan", View: lazy(async () => (await import("./plan-panel.ts")).PlanPanel) },
  branches: {
    title: "Branches",
    View: lazy(async () => (await import("./branches-panel.ts")).BranchesPanel),
  },
  context: { title: "Context", View: lazy(async () => (await import("./context-panel.ts")).ContextPanel) },
  cost: { title: "Cost", View: lazy(async () => (await import("./cost-panel.ts")).CostPanel) },
  guards: { title: "Guards", View: lazy(async () => (await import("./guards-panel.ts")).GuardsPanel) },
  stories: { title: "Stories", View: lazy(async () => (await import("./stories-panel.ts")).StoriesPanel) },
}
