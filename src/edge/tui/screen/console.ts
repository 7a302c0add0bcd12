// The Linux console: its fonts have ASCII, Latin letters and little else. Our signs are written as ASCII there, each in as many
// cells as before.

const signs: Record<string, string> = {
  "✓": "+",
  "✗": "x",
  "●": "*",
  "○": "o",
  "•": "*",
  "∴": "~",
  "…": "~",
  "›": ">",
  "→": ">",
  "▶": ">",
  "▌": "|",
  "│": "|",
  "─": "-",
  "┼": "+",
  "└": "`",
  "▁": "_",
  "▂": ".",
  "▃": ":",
  "▄": "-",
  "▅": "=",
  "▆": "+",
  "▇": "*",
  "█": "#",
  "▓": "=",
  "▒": "-",
  "◌": "o",
  "⋮": ":",
  "←": "<",
  "☑": "x",
  "☐": "-",
  "“": '"',
  "”": '"',
  "‘": "'",
  "’": "'",
  "–": "-",
  "—": "-",
}
const sign = new RegExp(`[${Object.keys(signs).join("")}]`, "g")

export function isConsole(): boolean {
  return process.env.TERM === "linux"
}

export function forConsole(text: string): string {
  return text.replace(sign, (found) => signs[found]!)
}
