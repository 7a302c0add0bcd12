// The specialists: what each one does, which tools it has, and which requests are for it. An orchestrator delegates to them.
import { instructions } from "./instructions.ts"

export type AgentSpec = Readonly<{
  name: string
  description: string
  /** The system prompt, with the reject protocol. */
  instruction: string
  /** Tools whose routing names begin with one of these belong to it. */
  prefixes: readonly string[]
  /** Words and phrases of requests that are for it. */
  keywords: readonly string[]
  /** Tells an orchestrator what to put into a task. */
  accepts: string
  /** Tells an orchestrator what comes back. */
  returns: string
  /** Words and phrases of requests that it must not get. */
  cannotDo: readonly string[]
  /** Active also without tools. */
  alwaysInclude: boolean
}>

export const agentSpecs: readonly AgentSpec[] = [
  {
    name: "operator",
    description: "Works with files, runs commands and programs, uses skills.",
    instruction: instructions.operator,
    prefixes: ["fs_", "exec_", "skill_", "task_"],
    keywords: list("run execute command shell file edit write create install build test fix script folder"),
    accepts: "A task with the paths, names and commands that matter",
    returns: "What was changed or run, and its outcome",
    cannotDo: ["browse the web", "encrypt", "decrypt", "remember for later"],
    alwaysInclude: false,
  },
  {
    name: "navigator",
    description: "Reads and uses web pages in a browser.",
    instruction: instructions.navigator,
    prefixes: ["browser_"],
    keywords: list("browse web url page navigate website site click form screenshot link online"),
    accepts: "An address or a starting point, and what to find or enter",
    returns: "What the pages say or did, with their addresses",
    cannotDo: ["run a command", "edit a file", "encrypt", "decrypt"],
    alwaysInclude: false,
  },
  {
    name: "vault",
    description: "Keeps secrets; encrypts, signs and hashes.",
    instruction: instructions.vault,
    prefixes: ["crypto_", "secrets_", "payment_"],
    keywords: list("encrypt decrypt sign secret payment wallet hash verify signature password credential"),
    accepts: "The name of a secret or a file, and the operation",
    returns: "What was done by name; signatures, hashes and encrypted data",
    cannotDo: ["show a secret", "browse the web"],
    alwaysInclude: false,
  },
  {
    name: "librarian",
    description: "Finds things in code, documents and relations; records knowledge.",
    instruction: instructions.librarian,
    prefixes: ["search_", "rag_", "graph_", "save_knowledge"],
    keywords: [
      ...list("search find document documents knowledge where which source reference index"),
      "look up",
    ],
    accepts: "A question, with folders or documents to look in",
    returns: "An answer with paths and lines",
    cannotDo: ["change a file", "run a command", "browse the web"],
    alwaysInclude: false,
  },
  {
    name: "planner",
    description: "Splits a goal into steps with their order.",
    instruction: instructions.planner,
    prefixes: [],
    keywords: ["plan", "steps", "break down", "roadmap", "strategy", "organize", "schedule", "milestones"],
    accepts: "A goal with its limits",
    returns: "Numbered steps, each with an agent and what it waits for",
    cannotDo: ["run a command", "edit a file", "browse the web"],
    alwaysInclude: true,
  },
  {
    name: "chronicler",
    description: "Remembers across sessions: facts, decisions, observations.",
    instruction: instructions.chronicler,
    prefixes: ["memory_", "observe_", "reflect_"],
    keywords: list("remember recall memory forget remind earlier previously history observe reflect"),
    accepts: "What to remember, look up, conclude or forget",
    returns: "Entries with their names and dates",
    cannotDo: ["run a command", "edit a file", "browse the web"],
    alwaysInclude: false,
  },
]

function list(words: string): string[] {
  return words.split(" ")
}
