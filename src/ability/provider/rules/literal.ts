// Whether words without quotes are text to be written as they stand, or describe something: "write hello to a.txt" says
// what the file shall hold, "write tests to a.test.ts" does not.
import { isPath } from "./recognize.ts"

const described =
  /^(?:it|this|that|these|those|the|them|an?|my|our|your|its|all|any|some|every|each|more|something|anything|everything|whatever|support)\b|\b(?:code|tests?|docs|documentation|changes|functions?|handling|scripts?|results?|outputs?|summary|contents?|report|answers?|response|logging|comments?|types?|imports?|dependency|dependencies|lines? \d+)\b/i
/** Files in which words of a person stand; a program in another one is not dictated without quotes. */
const prose =
  /(?:^|\/)(?:[^./]+|\.[^./]+|.*\.(?:txt|text|md|markdown|log|csv|tsv|env|ini|conf|cfg|list|version|rst|adoc)|\.[\w-]+(?:\.\w+)?)$/i

export function isLiteral(text: string, path: string): boolean {
  return prose.test(path) && !described.test(text) && !isPath(text)
}
