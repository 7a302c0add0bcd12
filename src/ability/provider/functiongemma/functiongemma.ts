// FunctionGemma's format for tools: declarations, calls and results. A subpath of the package.

export { formatToolDeclarations } from "./format-tool-declarations.ts"
export { formatFunctionResponse } from "./format-value.ts"
export { parseFunctionCalls } from "./parse-function-calls.ts"
