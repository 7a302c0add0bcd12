// The output format of commands: for people, or for programs.
export const format = {
  choices: ["text", "json"] as const,
  default: "text" as const,
  describe: "output format",
}
