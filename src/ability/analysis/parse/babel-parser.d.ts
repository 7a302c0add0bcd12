// As much of @babel/parser as is used. Its own types are those of every node of the syntax tree, which we do not need.
declare module "@babel/parser" {
  export function parse(
    text: string,
    options: {
      sourceType: "module"
      errorRecovery: boolean
      allowReturnOutsideFunction: boolean
      plugins: ("typescript" | "jsx")[]
    },
  ): { program: unknown; errors?: unknown[] | null }
}
