// FunctionGemma's format for tools: declarations, calls and results. A subpath of the package.
export { formatFunctionResponse } from "./format-function-response.ts"
export { formatToolDeclarations } from "./format-tool-declarations.ts"
export { parseFunctionCalls } from "./parse-function-calls.ts"
