/** Handlers of HTML, and of the template languages in use. */
export function isHandler(name: string): boolean {
  return /^(on[a-z]|@|x-on:|v-on:|hx-(get|post|put|patch|delete|on)|data-(action|trigger|on)|p-trigger$|wire:|ng-click|\(\w)/.test(
    name,
  )
}
