// Examples of docs/configuration.md, by the first part of a key. One test loads each example through the real loader;
// another checks that every key is in an example.
export type Example = { language: "jsonc" | "ts"; text: string }

export const examples: Record<string, Example[] | undefined> = {
  model: [jsonc(`{ "model": "anthropic/claude-sonnet-4-5" }`)],
  provider: [
    jsonc(`{
  "provider": {
    "default": "anthropic",
    "anthropic": { "apiKey": "sk-ant-…", "headers": { "x-team": "search" } },
    // A server of your own, with a model that the built-in list does not know.
    "openai": {
      "baseURL": "http://localhost:8080/v1",
      "models": {
        "qwen3-coder": {
          "name": "Qwen3 Coder",
          "context": 131072,
          "output": 16384,
          "cost": { "input": 0.2, "output": 0.8, "cacheRead": 0.02, "cacheWrite": 0.2 },
          "tools": true,
          "reasoning": false,
          "temperature": true,
          "input": ["text", "image"],
          "api": "chat"
        }
      }
    },
    // A GGUF file that "vitamin models add" made known.
    "local": { "models": { "functiongemma": { "gpu": "auto" } } }
  }
}`),
  ],
  telemetry: [
    jsonc(`{
  "telemetry": {
    "enabled": true,
    "endpoint": "http://127.0.0.1:4318",
    "headers": { "authorization": "Bearer …" },
    "contents": false
  }
}`),
  ],
  embedder: [
    jsonc(`{ "embedder": { "model": "openai/text-embedding-3-small" } }`),
    jsonc(`{ "embedder": { "gguf": "/models/embeddinggemma-300m.gguf" } }`),
  ],
  guards: [
    jsonc(`{
  "guards": {
    "read-before-edit": { "paths": "src/**" },
    "tests-before-answer": { "command": ["npm test*", "npm run check*"], "paths": "src/**" },
    "stories-before-answer": { "paths": "src/components/**" },
    "approve-deploy": { "command": "npm run deploy*" },
    "no-network-after-secret": { "block": ["network.fetch", "bash.execute:curl *"] },
    "look-at-diff": { "writes": 5, "look": "bash.done:git diff*" },
    "no-repeats": { "times": 2 },
    "plan-before-act": { "act": ["file.write", "file.edit"] },
    "budget": { "tokens": 2000000, "cost": 5 },
    // A guard of your own.
    "migrations-are-reviewed": {
      "when": "write.done:migrations/**",
      "block": ["answer", "bash:npm run migrate*"],
      "until": "subtask.done:reviewer",
      "because": "a migration was written and nobody has reviewed it",
      "each": "path",
      "enabled": false
    }
  }
}`),
    jsonc(`{
  "guards": {
    "read-before-edit": { "enabled": true },
    "tests-before-answer": { "enabled": true },
    "stories-before-answer": { "enabled": true },
    "approve-deploy": { "enabled": true },
    "no-network-after-secret": { "enabled": true },
    "look-at-diff": { "enabled": true },
    "no-repeats": { "enabled": true },
    "plan-before-act": { "enabled": true },
    "budget": { "enabled": false }
  }
}`),
  ],
  lsp: [
    jsonc(`{
  "lsp": {
    "wait": 3000,
    "servers": {
      "python": false,
      "zig": {
        "command": ["zls"],
        "extensions": { ".zig": "zig" },
        "root": ["build.zig"],
        "env": { "ZIG_LIB_DIR": "/opt/zig/lib" },
        "initialization": { "enable_snippets": false },
        "settings": { "zls": { "warn_style": true } }
      }
    }
  }
}`),
    jsonc(`{ "lsp": false }`),
  ],
  formatter: [
    jsonc(`{
  "formatter": {
    "prettier": false,
    "black": {
      "command": ["black", "--quiet", "$FILE"],
      "extensions": [".py", ".pyi"],
      "env": { "BLACK_NUM_WORKERS": "1" }
    }
  }
}`),
    jsonc(`{ "formatter": false }`),
  ],
  permission: [
    jsonc(`{
  "permission": [
    { "permission": "bash.execute", "pattern": "npm test", "action": "allow" },
    { "permission": "file.edit", "pattern": "src/generated/**", "action": "deny" },
    { "permission": "mcp.call", "pattern": "github/*", "action": "ask" }
  ]
}`),
  ],
  agent: [
    jsonc(`{
  "agent": {
    "name": "build",
    "model": "anthropic/claude-sonnet-4-5"
  }
}`),
  ],
  mcp: [
    jsonc(`{
  "mcp": {
    "servers": [
      {
        "id": "memory",
        "name": "Memory",
        "transport": "stdio",
        "command": ["npx", "-y", "@modelcontextprotocol/server-memory"],
        "env": { "MEMORY_FILE_PATH": "/home/me/memory.json" },
        "cwd": "/home/me",
        "timeout": 30000
      },
      {
        "id": "issues",
        "name": "Issues",
        "transport": "http",
        "url": "https://mcp.example.com/mcp",
        "headers": { "x-team": "search" },
        "auth": { "type": "oauth", "clientId": "vitamin-at-work" }
      },
      {
        "id": "wiki",
        "name": "Wiki",
        "transport": "http",
        "url": "https://wiki.example.com/mcp",
        "auth": { "type": "bearer", "token": "…" }
      }
    ],
    "logLevel": "warning",
    "resourceAge": { "text/*": 600 }
  }
}`),
    {
      language: "ts",
      text: `// .vitamin/config.ts
import { defineConfig } from "@vitamin-agent/vitamin"

export default defineConfig({
  mcp: {
    hooks: {
      onAuth: async () => ({ value: await tokenOfTheDay() }),
      onAuthRefresh: async () => ({ value: await tokenOfTheDay() }),
      onRequest: (request) => request,
      onResponse: (response) => response,
      onLog: ({ level, message }) => process.stderr.write(level + ": " + message + "\\n"),
      onPaginate: async () => true,
    },
  },
})

async function tokenOfTheDay(): Promise<string> {
  return "…"
}`,
    },
  ],
  hooks: [
    jsonc(`{ "hooks": { "otherAgents": true } }`),
    {
      language: "ts",
      text: `// .vitamin/config.ts
import { defineConfig } from "@vitamin-agent/vitamin"

export default defineConfig({
  hooks: {
    on: {
      PreToolUse: [{ matcher: "Bash", timeout: 10, hooks: [askBeforePush] }],
    },
  },
})

function askBeforePush({ tool_input }: { tool_input?: unknown }) {
  const { command = "" } = tool_input as { command?: string }
  if (!/\\bgit push\\b/.test(command)) return
  const why = "a push is final"
  return {
    hookSpecificOutput: {
      hookEventName: "PreToolUse" as const,
      permissionDecision: "ask" as const,
      permissionDecisionReason: why,
    },
  }
}`,
    },
  ],
  skills: [jsonc(`{ "skills": { "root": "docs/skills" } }`)],
  rules: [jsonc(`{ "rules": { "root": "CLAUDE.md", "own": ["~/.claude/CLAUDE.md"] } }`)],
  adapters: [
    jsonc(`{
  "adapters": {
    "acp": { "transport": "http", "port": 3000 },
    "sandbox": {
      "enabled": true,
      "security": { "allowWrite": ["."], "denyRead": ["~/.ssh", "~/.aws", ".env"], "allowedDomains": ["api.github.com"] },
      "limits": { "memory": 1073741824, "processes": 4000, "timeout": 900000 }
    }
  }
}`),
  ],
  a2a: [
    jsonc(`{
  "a2a": {
    "billing": {
      "url": "https://billing.example.com",
      "token": "$BILLING_TOKEN",
      "description": "Knows the billing service and can change it."
    }
  }
}`),
  ],
  scripts: [
    jsonc(`{ "scripts": { "persistence": "file", "path": ".plaited/scripts.json", "expirationDays": 90 } }`),
    {
      language: "ts",
      text: `import { defineConfig } from "@vitamin-agent/vitamin"
import { readFile, writeFile } from "node:fs/promises"

const shared = "/mnt/team/scripts.json"

export default defineConfig({
  scripts: {
    persistence: "callback",
    load: async () => JSON.parse(await readFile(shared, "utf8")),
    save: async (scripts: object[]) => writeFile(shared, JSON.stringify(scripts)),
  },
})`,
    },
  ],
  snapshot: [jsonc(`{ "snapshot": false }`)],
  remote: [jsonc(`{ "remote": { "url": "https://example.com/vitamin.jsonc", "timeout": 5000 } }`)],
  bash: [jsonc(`{ "bash": { "sandbox": true } }`)],
  environment: [jsonc(`{ "environment": { "pass": ["GH_TOKEN", "AWS_PROFILE"] } }`)],
  terminal: [
    jsonc(`{
  // Enter breaks the line, Ctrl-Enter sends. Nothing moves, rings or pops up.
  "terminal": {
    "keys": { "app.send": "ctrl+enter", "app.newline": ["enter", "alt+enter"] },
    "theme": "light",
    "animation": false,
    "bell": false,
    "notify": false
  }
}`),
  ],
}

function jsonc(text: string): Example {
  return { language: "jsonc", text }
}
