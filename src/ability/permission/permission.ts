// The entry file of this folder. Permissions: rules in layers decide what a tool may do; if they do not, a person is
// asked.
export {
  type Decision,
  evaluate,
  evaluateAll,
  evaluateCommand,
  guarded,
  isStricter,
  type Need,
  narrowest,
  sealed,
  strictest,
} from "./evaluate.ts"
export {
  flagsFor,
  type JudgedNeed,
  sayChanged,
  sayDenied,
  sayNeed,
  sayNobody,
  sayRejected,
  showNeed,
  whyProtected,
} from "./explain.ts"
export { isSecretFile } from "./is-secret-file.ts"
export {
  commandsIn,
  isReader,
  onlyLooks,
  pathsIn,
  runScript,
  skillScriptsRun,
} from "./own-configuration.ts"
export { isOwnConfiguration, ownNames } from "./protected-paths.ts"
export {
  type Answer,
  canBeAlways,
  Denied,
  Details,
  isEdit,
  Replied,
  Reply,
  Request,
  Requested,
  type ShownNeed,
} from "./request-schema.ts"
export {
  type Asker,
  ask,
  InvalidReply,
  NotFound,
  pending,
  type Question,
  reply,
  useAsker,
  writtenRules,
} from "./requests.ts"
export {
  type Action,
  checkLayer,
  covers,
  defaults,
  formatRule,
  InvalidRule,
  isKnown,
  isOncePerSession,
  type Layer,
  parseRule,
  planner,
  Rule,
  sandboxed,
} from "./rule.ts"
export { secretsIn } from "./secret-reads.ts"
export { mentionedCommands } from "./shell/mentioned-commands.ts"
export { gitReading, onlyReadsGit } from "./shell/reading-git.ts"
export { succeededCommands } from "./shell/succeeded-commands.ts"
