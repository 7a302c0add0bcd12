// A call as the model writes it: for the history that it is shown.
import { tokens } from "./control-tokens.ts"
import { checkName, formatObject } from "./format-value.ts"

export function formatFunctionCall(name: string, args: object): string {
  return `${tokens.startCall}call:${checkName(name)}${formatObject(args)}${tokens.endCall}`
}
