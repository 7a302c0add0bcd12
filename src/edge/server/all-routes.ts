// The routes of `vitamin serve` beside the core ones.
import type { Route } from "#edge/server/http/route.ts"
import { abilityRoutes } from "#edge/server/routes/ability-routes.ts"
import { agentRoutes } from "#edge/server/routes/agent-routes.ts"
import { choiceRoutes } from "#edge/server/routes/choice-routes.ts"
import { elicitationRoutes } from "#edge/server/routes/elicitation-routes.ts"
import { extensionRoutes } from "#edge/server/routes/extension-routes.ts"
import { mcpRoutes } from "#edge/server/routes/mcp-routes.ts"
import { panelRoutes } from "#edge/server/routes/panel-routes.ts"
import { permissionRoutes } from "#edge/server/routes/permission-routes.ts"
import { scheduleRoutes } from "#edge/server/routes/schedule-routes.ts"
import { sessionRoutes } from "#edge/server/routes/session-routes.ts"
import { settingRoutes } from "#edge/server/routes/setting-routes.ts"
import { setupRoutes } from "#edge/server/routes/setup-routes.ts"
import { skillRoutes } from "#edge/server/routes/skill-routes.ts"
import { trustRoutes } from "#edge/server/routes/trust-routes.ts"
import { undoRoutes } from "#edge/server/routes/undo-routes.ts"
import { useRoutes } from "#edge/server/routes/use-routes.ts"
import { type AgentSource, plainAgents } from "#engine/host/agent-adapter.ts"
import type { Schedules } from "#engine/schedule/schedule.ts"

/** `agentFor` gives the agent that runs the prompts of a folder. `schedules`: those of the database, if there is one. */
export function allRoutes(agentFor: AgentSource = plainAgents, schedules?: Schedules): Route[] {
  return [
    ...sessionRoutes(agentFor),
    ...useRoutes(),
    ...undoRoutes(),
    ...panelRoutes(),
    ...permissionRoutes(),
    ...abilityRoutes(),
    ...agentRoutes(),
    ...skillRoutes(),
    ...extensionRoutes(),
    ...choiceRoutes(),
    ...mcpRoutes(),
    ...elicitationRoutes(),
    ...trustRoutes(),
    ...settingRoutes(),
    ...setupRoutes(),
    ...scheduleRoutes(schedules),
  ]
}
