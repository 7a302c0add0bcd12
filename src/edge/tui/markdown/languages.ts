// The languages that are highlighted, by the names that people write behind a fence. Each is loaded when it is first used.
import type { StreamParser } from "@codemirror/streamparser"

type Parser = StreamParser<unknown>
export type Languages = Readonly<{
  /** Undefined if the language is unknown or not loaded. */
  get(name: string): Parser | undefined
  /** Resolves when `get` can be asked; undefined if it can be asked now. */
  load(name: string): Promise<void> | undefined
}>

const clike = () => import("@codemirror/legacy-modes/mode/clike")
const css = () => import("@codemirror/legacy-modes/mode/css")
const script = () => import("@codemirror/legacy-modes/mode/javascript")
const markup = () => import("@codemirror/legacy-modes/mode/xml")

const loaders: [names: string, load: () => Promise<Parser>][] = [
  ["typescript ts tsx mts cts", async () => (await script()).typescript],
  ["javascript js jsx mjs cjs node", async () => (await script()).javascript],
  ["json jsonc json5", async () => (await script()).json],
  ["python py python3", async () => (await import("@codemirror/legacy-modes/mode/python")).python],
  [
    "bash sh shell zsh console shellsession makefile make",
    async () => (await import("@codemirror/legacy-modes/mode/shell")).shell,
  ],
  ["go golang", async () => (await import("@codemirror/legacy-modes/mode/go")).go],
  ["rust rs", async () => (await import("@codemirror/legacy-modes/mode/rust")).rust],
  ["c h", async () => (await clike()).c],
  ["cpp c++ cc hpp", async () => (await clike()).cpp],
  ["java", async () => (await clike()).java],
  ["csharp c# cs", async () => (await clike()).csharp],
  ["kotlin kt kts", async () => (await clike()).kotlin],
  ["scala", async () => (await clike()).scala],
  ["dart", async () => (await clike()).dart],
  ["objectivec objective-c objc", async () => (await clike()).objectiveC],
  ["php php8 phtml", async () => (await import("./php.ts")).php],
  ["ruby rb", async () => (await import("@codemirror/legacy-modes/mode/ruby")).ruby],
  ["css", async () => (await css()).css],
  ["scss", async () => (await css()).sCSS],
  ["less", async () => (await css()).less],
  ["html vue svelte", async () => (await markup()).html],
  ["xml svg", async () => (await markup()).xml],
  ["sql", async () => (await import("@codemirror/legacy-modes/mode/sql")).standardSQL],
  ["yaml yml", async () => (await import("@codemirror/legacy-modes/mode/yaml")).yaml],
  ["toml", async () => (await import("@codemirror/legacy-modes/mode/toml")).toml],
  [
    "ini properties dotenv env",
    async () => (await import("@codemirror/legacy-modes/mode/properties")).properties,
  ],
  ["diff patch", async () => (await import("@codemirror/legacy-modes/mode/diff")).diff],
  ["dockerfile docker", async () => (await import("@codemirror/legacy-modes/mode/dockerfile")).dockerFile],
  ["swift", async () => (await import("@codemirror/legacy-modes/mode/swift")).swift],
  ["lua", async () => (await import("@codemirror/legacy-modes/mode/lua")).lua],
  ["powershell ps1 pwsh", async () => (await import("@codemirror/legacy-modes/mode/powershell")).powerShell],
  ["protobuf proto", async () => (await import("@codemirror/legacy-modes/mode/protobuf")).protobuf],
  ["haskell hs", async () => (await import("@codemirror/legacy-modes/mode/haskell")).haskell],
  ["r", async () => (await import("@codemirror/legacy-modes/mode/r")).r],
]
const byName = new Map(
  loaders.flatMap(([names, load]) => names.split(" ").map((name) => [name, load] as const)),
)

export function createLanguages(): Languages {
  const loaded = new Map<string, Parser | undefined>()

  function load(given: string): Promise<void> | undefined {
    const name = given.toLowerCase()
    const loader = byName.get(name)
    if (!loader || loaded.has(name)) return undefined
    // Without its parser, code is shown as it is.
    return loader().then(
      (parser) => void loaded.set(name, parser),
      () => void loaded.set(name, undefined),
    )
  }

  return Object.freeze({ get: (name: string) => loaded.get(name.toLowerCase()), load })
}
