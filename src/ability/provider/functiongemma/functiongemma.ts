// FunctionGemma's language of tools: what it is told, what it calls, what it gets back. A subpath of the package.
export { formatFunctionResponse } from "./format-function-response.ts"
export { formatToolDeclarations } from "./format-tool-declarations.ts"
export { parseFunctionCalls } from "./parse-function-calls.ts"
