// The parts of docs/tools.md: every tool of the program with its arguments, what it asks permission for, and its limits.
import { manuals as analysis } from "#ability/analysis/analysis-tools.ts"
import { manuals as browser, definitions as browserTools } from "#ability/browser/browser-tools.ts"
import { documentManuals } from "#ability/documents/document-tools.ts"
import { lspManuals } from "#ability/lsp/lsp-tools.ts"
import { memoryManuals } from "#ability/memory/memory-tools.ts"
import { manual as script, scriptTool } from "#ability/script/script-tool.ts"
import { manual as bash } from "#ability/tool/builtin/bash.ts"
import { manual as delegate } from "#ability/tool/builtin/delegate.ts"
import { manual as edit } from "#ability/tool/builtin/edit.ts"
import { manual as fetch } from "#ability/tool/builtin/fetch.ts"
import { manual as glob } from "#ability/tool/builtin/glob.ts"
import { manual as grep } from "#ability/tool/builtin/grep.ts"
import { manual as ls } from "#ability/tool/builtin/ls.ts"
import { manual as read } from "#ability/tool/builtin/read.ts"
import { manual as recall } from "#ability/tool/builtin/recall.ts"
import { manual as subtask } from "#ability/tool/builtin/subtask.ts"
import { manual as symbols } from "#ability/tool/builtin/symbols.ts"
import { manual as todo } from "#ability/tool/builtin/todo.ts"
import { manual as toolSearch } from "#ability/tool/builtin/tool-search.ts"
import { manual as write } from "#ability/tool/builtin/write.ts"
import { permissionOf } from "#ability/tool/may-use.ts"
import type { Definition } from "#ability/tool/tool.ts"
import { loadToolGroups } from "#ability/tool/tool-groups.ts"
import * as ToolRegistry from "#ability/tool/tool-registry.ts"
import { manuals as vault } from "#ability/vault/vault-tools.ts"
import { manuals as world, definitions as worldTools } from "#ability/world/world-tools.ts"
import { inInstance } from "#edge/cli/process/in-instance.ts"
import { type Field, fenced, fieldsOf, fieldTable, schemaOf } from "./fields.ts"

type Manual = { example: object; arguments: Record<string, string>; limits: string }

/** By the id of the tool. */
export const manuals: Record<string, Manual | undefined> = {
  ...{ bash, delegate, edit, fetch, glob, grep, ls, read, recall, script, subtask, symbols, todo, write },
  tool_search: toolSearch,
  ...documentManuals,
  ...memoryManuals,
  ...vault,
  ...browser,
  ...world,
  ...analysis,
  ...lspManuals,
}

export type DocumentedTool = {
  tool: Definition
  manual: Manual | undefined
  fields: Field[]
  permissions: string[]
}

/** Runs in an instance, which tools need to name the permissions of a call. */
export async function tools(): Promise<DocumentedTool[]> {
  return inInstance({ dir: import.meta.dirname }, async () => {
    await loadToolGroups()
    // They are documented also by a machine without a browser, and without promoted scripts.
    for (const tool of [...browserTools, ...worldTools, scriptTool([])]) ToolRegistry.register(tool)
    const documented = ToolRegistry.list().map((tool) => ({ tool, manual: manuals[tool.id] }))
    return Promise.all(
      documented.map(async ({ tool, manual }) => ({
        tool,
        manual,
        fields: fieldsOf(schemaOf(tool.parameters, "input"), { meanings: manual?.arguments ?? {} }),
        permissions: await permissionsOf(tool, manual?.example),
      })),
    )
  })
}

async function permissionsOf(tool: Definition, example: object | undefined): Promise<string[]> {
  if (!example || !tool.permission) return []
  const needs = tool.permission(await tool.parameters.parseAsync(example))
  const named = needs.map(({ permission }) => permission)
  // Without a session the page of a browser is not known.
  if (tool.id in browser) named.push(permissionOf(tool)!)
  return [...new Set(named)]
}

export async function renderTools(): Promise<Record<string, string[]>> {
  return {
    tools: (await tools()).flatMap(({ tool, manual, fields, permissions }) => [
      `### \`${tool.id}\``,
      "",
      tool.description,
      "",
      ...(fields.length ? fieldTable("argument", fields) : ["No arguments."]),
      "",
      `${asksFor(permissions)} ${manual?.limits ?? ""}${tool.onlyNamed ? " Only for the specialist that it belongs to, and for agents that name it in `tools`." : ""}${tool.routingName ? ` Routing name: \`${tool.routingName}\`.` : ""}`,
      "",
      ...fenced("json", JSON.stringify(manual?.example)),
      "",
    ]),
  }
}

function asksFor(permissions: string[]): string {
  if (permissions.length === 0) return "Permission: none."
  return `Permission: ${permissions.map((name) => `\`${name}\``).join(", ")}.`
}
