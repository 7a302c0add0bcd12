// The entry file for other edges that add routes to the server.
export { securityHeaders } from "#edge/server/http/respond.ts"
export { defineHttpRoute, type Route } from "#edge/server/http/route.ts"
