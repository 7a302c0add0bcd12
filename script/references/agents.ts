// The parts of docs/agents.md: every field of an agent file.
import { AgentDefinition } from "#ability/agent/agent.ts"
import { builtinAgents } from "#ability/agent/builtin-agents.ts"
import { type Field, fieldsOf, fieldTable, schemaOf, table } from "./fields.ts"

export function agentFields(): Field[] {
  return fieldsOf(schemaOf(AgentDefinition, "input")).map((field) =>
    // The loader fills in both if a file has none.
    field.path === "id" || field.path === "name" ? { ...field, fallback: "" } : field,
  )
}

export function renderAgents(): Record<string, string[]> {
  const rows = builtinAgents.map(({ id, metadata }) => [`\`${id}\``, metadata.description ?? ""])
  return { fields: fieldTable("field", agentFields()), builtin: table(["agent", "what it is for"], rows) }
}
