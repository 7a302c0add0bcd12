// The entry file for other edges that add routes to the server.
export { readBody } from "#edge/server/http/body.ts"
export { jsonResponse, securityHeaders } from "#edge/server/http/respond.ts"
export { defineHttpRoute, type Route } from "#edge/server/http/route.ts"
