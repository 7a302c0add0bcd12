// The public API of the package, for programs that embed vitamin.

export { z } from "zod"
export { AgentDefinition, AgentRole } from "#ability/agent/agent.ts"
export * as AgentRegistry from "#ability/agent/agent-registry.ts"
export { defineAgent } from "#ability/agent/define-agent.ts"
export { route } from "#ability/agent/route.ts"
export {
  type AgentSpec,
  agentSpecs,
  orchestratorInstruction,
  type Partition,
  parseReject,
  partitionTools,
  type Rejection,
  specToDefinition,
} from "#ability/agent/specialists.ts"
export { zodToToolSchema } from "#ability/call/zod-to-tool-schema.ts"
export * as Elicitation from "#ability/elicitation/elicitation.ts"
export { createMCPClient } from "#ability/mcp/client/create-client.ts"
export * from "#ability/mcp/registry/create-registry.ts"
export type * from "#ability/mcp/server/types.ts"
export * as Grant from "#ability/permission/grant.ts"
export * as Permission from "#ability/permission/permission.ts"
export {
  formatFunctionResponse,
  formatToolDeclarations,
  parseFunctionCalls,
} from "#ability/provider/functiongemma/functiongemma.ts"
export * as Provider from "#ability/provider/provider.ts"
export { exec } from "#ability/shell/exec.ts"
export * as Skill from "#ability/skill/skill.ts"
export * as Snapshot from "#ability/snapshot/snapshot.ts"
export * as Tool from "#ability/tool/tool.ts"
export * as ToolRegistry from "#ability/tool/tool-registry.ts"
export { checkUrl, UrlDenied } from "#ability/web/check-url.ts"
export { type A2AConfig, type A2APeer, a2aAdapter } from "#edge/a2a/a2a-adapter.ts"
export { type ACPConfig, type ACPServer, acpAdapter } from "#edge/adapter/acp-adapter.ts"
export { type HTTPConfig, type HTTPServer, httpAdapter } from "#edge/adapter/http-adapter.ts"
export { type SandboxConfig, type SandboxedAgent, sandboxAdapter } from "#edge/sandbox/sandbox-adapter.ts"
export * from "#edge/world/create-world-agent.ts"
export type { AgentAdapter } from "#engine/host/agent-adapter.ts"
export { bootstrap } from "#engine/host/bootstrap.ts"
export * from "#engine/host/create-agent.ts"
export * as Memory from "#engine/session/memory.ts"
export * as Session from "#engine/session/session.ts"
export type { Detail as GuardDetail } from "#engine/symbolic/guard-event.ts"
export type { GuardDefinition } from "#engine/symbolic/guard-file.ts"
export * as Bus from "#kernel/bus/bus.ts"
export * as GlobalBus from "#kernel/bus/global-bus.ts"
export * as Config from "#kernel/config/config.ts"
export { defineConfig, loadConfig } from "#kernel/config/typescript.ts"
export { Instance } from "#kernel/instance.ts"
export * as Env from "#kernel/process/env.ts"
export * as Global from "#kernel/process/global.ts"
export * as Log from "#kernel/process/log.ts"
export type { HookEvent, HookFunction, HookInput, HookOutput } from "#kernel/schema/schema.ts"
export * as Space from "#kernel/space.ts"
export * as Storage from "#kernel/storage/storage.ts"
export * as Trust from "#kernel/trust/trust.ts"
export * from "#knowledge/cache/semantic-cache.ts"
export { createEmbedder, type EmbedderConfig } from "#knowledge/embedder/create-embedder.ts"
export type { Embedder } from "#knowledge/embedder/types.ts"
export * as Grounding from "#knowledge/grounding/grounding.ts"
export { createIndex } from "#knowledge/index/create-index.ts"
export {
  createToolDiscovery,
  type DiscoverableTool,
  type ToolDiscovery,
  type ToolSource,
} from "#knowledge/index/tool-discovery.ts"
export * as Message from "#knowledge/message/message.ts"
export { formatPlanContext, formatRelationsForContext } from "#knowledge/relation/format-relations.ts"
export type { NodeContext, RelationNode } from "#knowledge/relation/relation-node.ts"
export {
  createRelationStore,
  type RelationStore,
  type RelationStoreConfig,
} from "#knowledge/relation/relation-store.ts"
export {
  createRulesDiscovery,
  type ReferenceMatch as RuleReferenceMatch,
  type RuleReference,
  type RulesDiscovery,
  type RulesDiscoveryConfig,
  type RulesDiscoveryStats,
} from "#knowledge/rules/rules-discovery.ts"
export {
  createSkillDiscovery,
  type ReferenceMatch as SkillReferenceMatch,
  type SkillDiscovery,
  type SkillDiscoveryConfig,
  type SkillMatch,
} from "#knowledge/skill/skill-discovery.ts"
export type * from "#knowledge/skill/skill-types.ts"
export { PathInvalid, PathOutside, resolveInside } from "#util/file/resolve-inside.ts"
export { createId } from "#util/id.ts"
export { extractMarkdownLinks, getExtension, isExternalLink } from "#util/parse/markdown-links.ts"
