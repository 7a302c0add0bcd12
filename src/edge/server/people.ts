// The entry file for commands about people: their tokens, and the log of what they did.
export * as Audit from "#edge/server/people/audit.ts"
export * as PersonalToken from "#edge/server/people/personal-token.ts"
