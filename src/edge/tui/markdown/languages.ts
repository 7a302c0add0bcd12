// The languages that are highlighted, by the names that people write behind a fence. Loaded with the transcript, after the
// first frame.
import { c, cpp, csharp, dart, java, kotlin, objectiveC, scala } from "@codemirror/legacy-modes/mode/clike"
import { css, less, sCSS } from "@codemirror/legacy-modes/mode/css"
import { diff } from "@codemirror/legacy-modes/mode/diff"
import { dockerFile } from "@codemirror/legacy-modes/mode/dockerfile"
import { go } from "@codemirror/legacy-modes/mode/go"
import { haskell } from "@codemirror/legacy-modes/mode/haskell"
import { javascript, json, typescript } from "@codemirror/legacy-modes/mode/javascript"
import { lua } from "@codemirror/legacy-modes/mode/lua"
import { powerShell } from "@codemirror/legacy-modes/mode/powershell"
import { properties } from "@codemirror/legacy-modes/mode/properties"
import { protobuf } from "@codemirror/legacy-modes/mode/protobuf"
import { python } from "@codemirror/legacy-modes/mode/python"
import { r } from "@codemirror/legacy-modes/mode/r"
import { ruby } from "@codemirror/legacy-modes/mode/ruby"
import { rust } from "@codemirror/legacy-modes/mode/rust"
import { shell } from "@codemirror/legacy-modes/mode/shell"
import { standardSQL } from "@codemirror/legacy-modes/mode/sql"
import { swift } from "@codemirror/legacy-modes/mode/swift"
import { toml } from "@codemirror/legacy-modes/mode/toml"
import { html, xml } from "@codemirror/legacy-modes/mode/xml"
import { yaml } from "@codemirror/legacy-modes/mode/yaml"
import type { StreamParser } from "@codemirror/streamparser"

const parsers: [names: string, parser: StreamParser<unknown>][] = [
  ["typescript ts tsx mts cts", typescript],
  ["javascript js jsx mjs cjs node", javascript],
  ["json jsonc json5", json],
  ["python py python3", python],
  ["bash sh shell zsh console shellsession makefile make", shell],
  ["go golang", go],
  ["rust rs", rust],
  ["c h", c],
  ["cpp c++ cc hpp", cpp],
  ["java", java],
  ["csharp c# cs", csharp],
  ["kotlin kt kts", kotlin],
  ["scala", scala],
  ["dart", dart],
  ["objectivec objective-c objc", objectiveC],
  ["ruby rb", ruby],
  ["css", css],
  ["scss", sCSS],
  ["less", less],
  ["html vue svelte", html],
  ["xml svg", xml],
  ["sql", standardSQL],
  ["yaml yml", yaml],
  ["toml", toml],
  ["ini properties dotenv env", properties],
  ["diff patch", diff],
  ["dockerfile docker", dockerFile],
  ["swift", swift],
  ["lua", lua],
  ["powershell ps1 pwsh", powerShell],
  ["protobuf proto", protobuf],
  ["haskell hs", haskell],
  ["r", r],
]
const byName = new Map(
  parsers.flatMap(([names, parser]) => names.split(" ").map((name) => [name, parser] as const)),
)

export function parserOf(language: string): StreamParser<unknown> | undefined {
  return byName.get(language.toLowerCase())
}
