// The forms of definitions in each language: one line, from its beginning. Each form has a group `name`.
import { extname } from "node:path"

export type Rule = { kind: string; form: RegExp }

const word = "(?<name>[A-Za-z_$][\\w$]*)"
/** Words that may come before the keyword. */
const modifiers =
  "(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|sealed|open|override|virtual|async|" +
  "unsafe|inline|const|data|partial|readonly|extern|pub(?:\\([^)]*\\))?)\\s+)*"

const rule = (kind: string, form: string): Rule => ({ kind, form: new RegExp(form) })
/** `class Name`, `fun name`: a keyword, then the name. */
const named = (kind: string, before: string) => rule(kind, `^\\s*${modifiers}(?:${before})\\s+${word}`)
const types = (before: string) => named("type", before)
const method = rule(
  "method",
  `^\\s+(?:(?:public|private|protected|static|async|override|readonly|get|set|abstract)\\s+|\\*)*#?(?!(?:if|for|while|switch|catch|function|return|with|new|await|super)\\b)${word}\\s*(?:<[^>]*>)?\\([^;]*\\{\\s*$`,
)

const javascript = [
  named("function", "function\\s*\\*?"),
  types("class|interface|type|enum|namespace"),
  rule("constant", `^(?:export\\s+)?(?:declare\\s+)?(?:const|let|var)\\s+${word}`),
  method,
]
const java = [
  types("class|interface|enum|record|struct|namespace|@interface"),
  rule(
    "method",
    `^\\s+(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async|synchronized)\\s+)+[\\w<>\\[\\],.?]+(?:\\s+[\\w<>\\[\\],.?]+)*?\\s+${word}\\s*\\(`,
  ),
]
const c = [
  types("struct|class|union|enum|namespace|enum\\s+class|typedef\\s+struct"),
  rule("macro", `^\\s*#\\s*define\\s+${word}`),
  rule(
    "function",
    `^(?!(?:if|for|while|switch|return|else|typedef)\\b)[A-Za-z_][\\w:<>,*&~ \\t]*[\\s*&:~]${word}\\s*\\([^;]*$`,
  ),
]

const byLanguage: [extensions: string, rules: Rule[]][] = [
  ["ts tsx mts cts js jsx mjs cjs vue svelte", javascript],
  [
    "py pyi",
    [
      named("function", "(?:async\\s+)?def"),
      types("class"),
      rule("constant", `^(?<name>[A-Z][A-Z0-9_]+)\\s*(?::[^=]+)?=`),
    ],
  ],
  [
    "go",
    [
      rule("function", `^func\\s+(?:\\([^)]*\\)\\s*)?${word}`),
      types("type"),
      rule("constant", `^(?:const|var)\\s+${word}`),
    ],
  ],
  [
    "rs",
    [
      named("function", "fn"),
      types("struct|enum|trait|type|union|mod"),
      rule("macro", `^\\s*macro_rules!\\s*${word}`),
      named("constant", "static(?:\\s+mut)?"),
      rule("constant", `^\\s*(?:pub(?:\\([^)]*\\))?\\s+)?const\\s+${word}\\s*:`),
    ],
  ],
  ["java cs", java],
  [
    "kt kts scala swift dart",
    [
      named("function", "fun|func|def"),
      types("class|interface|enum|object|trait|struct|protocol|extension|actor|typealias|enum\\s+class"),
    ],
  ],
  ["c h cc cpp cxx hpp hh m mm", c],
  ["rb", [rule("function", `^\\s*def\\s+(?:self\\.)?(?<name>[A-Za-z_]\\w*[?!=]?)`), types("class|module")]],
  ["php", [named("function", "function\\s*&?"), types("class|interface|trait|enum")]],
  ["ex exs", [named("function", "defp?|defmacrop?"), rule("type", `^\\s*defmodule\\s+(?<name>[\\w.]+)`)]],
  ["lua", [rule("function", `^\\s*(?:local\\s+)?function\\s+(?<name>[\\w.:]+)`)]],
  ["sh bash zsh", [rule("function", `^\\s*(?:function\\s+(?<name>[\\w-]+)|(?<name>[\\w-]+)\\s*\\(\\s*\\))`)]],
  [
    "sql",
    [
      rule(
        "type",
        `^\\s*(?:[Cc][Rr][Ee][Aa][Tt][Ee])\\s+(?:\\w+\\s+)*?(?:[Tt][Aa][Bb][Ll][Ee]|[Vv][Ii][Ee][Ww]|[Ff][Uu][Nn][Cc][Tt][Ii][Oo][Nn])\\s+(?:[Ii][Ff]\\s+[Nn][Oo][Tt]\\s+[Ee][Xx][Ii][Ss][Tt][Ss]\\s+)?"?(?<name>[\\w.]+)`,
      ),
    ],
  ],
  ["proto", [types("message|service|enum|rpc")]],
]

const rules = new Map<string, readonly Rule[]>(
  byLanguage.flatMap(([extensions, forms]) =>
    extensions.split(" ").map((name) => [`.${name}`, forms] as const),
  ),
)

/** The lines that ripgrep searches if all symbols are wanted. Methods are missed, because no keyword marks them. */
export const keywords =
  "^\\s*([\\w()]+\\s+)*(function|class|interface|type|enum|namespace|const|let|var|def|func|fn|struct|trait|union|mod|module|" +
  "record|fun|object|protocol|extension|actor|typealias|defp|defmacro|defmacrop|defmodule|message|service|rpc|static|" +
  "macro_rules!|#\\s*define|[Cc][Rr][Ee][Aa][Tt][Ee])\\b"

export function rulesFor(file: string): readonly Rule[] {
  return rules.get(extname(file).toLowerCase()) ?? []
}
