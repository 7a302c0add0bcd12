// The entry file of this folder. A boundary around a program: it can write, read and reach only what a policy names, and
// the operating system enforces it.
export { checkSandbox } from "./check-sandbox.ts"
export type { Boundary } from "./hold-boundary.ts"
export { keepPlaces, type Places } from "./keep-places.ts"
export { forNode } from "./launcher.ts"
export { NotIsolated, type Policy, type Status } from "./policy.ts"
export { type Options, startBoundary } from "./start-boundary.ts"
