// How commands print what they found: for people, or for programs.
export const format = {
  choices: ["text", "json"] as const,
  default: "text" as const,
  describe: "output form",
}
