// PHP for the highlighter: the parser for languages like C, with the words, comments and variables of PHP.
import { clike } from "@codemirror/legacy-modes/mode/clike"
import type { StringStream } from "@codemirror/streamparser"

type State = { tokenize: ((stream: StringStream, state: State) => string) | null }

export const php = clike({
  name: "php",
  keywords: words(
    "abstract and as break case catch class clone const continue declare default do echo else elseif enum extends final " +
      "finally fn for foreach from function global goto if implements include include_once instanceof insteadof interface " +
      "match namespace new or print private protected public readonly require require_once return static switch throw trait " +
      "try use var while xor yield endif endfor endforeach endwhile endswitch",
  ),
  types: words("array bool callable float int iterable mixed never object self parent string void"),
  builtin: words(
    "count empty eval exit die isset list unset strlen implode explode sprintf printf var_dump array_map",
  ),
  atoms: words(
    "true false null TRUE FALSE NULL PHP_EOL __CLASS__ __DIR__ __FILE__ __FUNCTION__ __LINE__ __METHOD__",
  ),
  blockKeywords: words("catch do else elseif for foreach if switch try while finally"),
  multiLineStrings: true,
  hooks: {
    $(stream: StringStream) {
      stream.eatWhile(/[\w$\u0080-\uffff]/)
      return "variableName"
    },
    "#"(stream: StringStream) {
      if (stream.match("[")) return "meta"
      stream.skipToEnd()
      return "comment"
    },
    "'"(stream: StringStream, state: State) {
      state.tokenize = quoted("'")
      return state.tokenize(stream, state)
    },
    "<"(stream: StringStream) {
      return stream.match(/^\?(?:php|=)?/) ? "meta" : false
    },
    "?"(stream: StringStream) {
      return stream.match(">") ? "meta" : false
    },
  },
})

/** A string may go over several lines. */
function quoted(mark: string) {
  return (stream: StringStream, state: State): string => {
    let isEscaped = false
    for (let next = stream.next(); next; next = stream.next()) {
      if (next === mark && !isEscaped) {
        state.tokenize = null
        break
      }
      isEscaped = !isEscaped && next === "\\"
    }
    return "string"
  }
}

function words(text: string): Record<string, true> {
  return Object.fromEntries(text.split(" ").map((word) => [word, true]))
}
