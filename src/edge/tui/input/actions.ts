// What keys can do, by name. The names are used in the setting `terminal.keys`; `/keys` lists them in this order.

/** Two keys with a blank between them are pressed one after the other. */
export const actions = {
  "app.send": act("send the prompt, or accept the chosen completion", "enter"),
  "app.newline": act("break the line", "shift+enter", "alt+enter", "ctrl+j"),
  "app.stop": act("stop the turn, or close a list", "escape"),
  "app.back": act("go back to an earlier message and branch there", "escape escape"),
  "app.withdraw": act("take the last waiting prompt back", "alt+up"),
  "app.cycleMode": act("next approval preset", "shift+tab"),
  "app.quit": act("quit, if the editor is empty", "ctrl+c ctrl+c", "ctrl+d"),
  "app.clear": act("clear the editor", "ctrl+c"),
  "app.expand": act("show folded output in full", "ctrl+o"),
  "app.externalEditor": act("write the prompt in $EDITOR", "ctrl+g"),
  "app.suspend": act("suspend to the shell", "ctrl+z"),
  "app.redraw": act("draw the screen again", "ctrl+l"),
  "history.search": act("search earlier prompts", "ctrl+r"),
  "history.back": act("earlier prompt", "ctrl+p"),
  "history.forward": act("later prompt", "ctrl+n"),
  "editor.complete": act("complete a file or a command", "tab"),
  "editor.left": act("one character left", "left", "ctrl+b"),
  "editor.right": act("one character right", "right", "ctrl+f"),
  "editor.up": act("one row up; earlier prompt on the first row", "up"),
  "editor.down": act("one row down; later prompt on the last row", "down"),
  "editor.wordLeft": act("one word left", "ctrl+left", "alt+left", "alt+b"),
  "editor.wordRight": act("one word right", "ctrl+right", "alt+right", "alt+f"),
  "editor.lineStart": act("start of the line", "home", "ctrl+a"),
  "editor.lineEnd": act("end of the line", "end", "ctrl+e"),
  "editor.textStart": act("start of the text", "ctrl+home", "alt+<"),
  "editor.textEnd": act("end of the text", "ctrl+end", "alt+>"),
  "editor.deleteBack": act("delete the character before the caret", "backspace", "shift+backspace", "ctrl+h"),
  "editor.deleteForward": act("delete the character at the caret", "delete", "ctrl+d"),
  "editor.deleteWordBack": act("delete the word before the caret", "alt+backspace", "ctrl+backspace"),
  "editor.deleteBlankWordBack": act("delete back to the last blank", "ctrl+w"),
  "editor.deleteWordForward": act("delete the word after the caret", "alt+d", "alt+delete", "ctrl+delete"),
  "editor.deleteToLineStart": act("delete to the start of the line", "ctrl+u"),
  "editor.deleteToLineEnd": act("delete to the end of the line", "ctrl+k"),
  "editor.yank": act("insert what was deleted last", "ctrl+y"),
  "editor.yankEarlier": act("replace it with what was deleted before", "alt+y"),
  "editor.undo": act("undo", "ctrl+_", "ctrl+shift+-", "ctrl+/"),
  "editor.redo": act("redo", "alt+_", "alt+shift+-"),
} as const

export type Action = keyof typeof actions

type About = { about: string; keys: readonly string[] }

function act(about: string, ...keys: string[]): About {
  return { about, keys }
}
