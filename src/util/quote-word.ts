// A text as one word of a command that a person or a model can paste into a shell.

export function quoteWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
