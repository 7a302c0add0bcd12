// Quotes a text as one word of a shell command, for a person or a model to copy.

export function quoteWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
