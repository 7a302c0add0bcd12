// What another edge needs to add routes of its own to the server.
export { securityHeaders } from "#edge/server/http/respond.ts"
export { defineRoute, type Route } from "#edge/server/http/route.ts"
