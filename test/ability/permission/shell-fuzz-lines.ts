// Random lines for shell-fuzz.test.ts: made of pieces of unusual shell syntax, and mutated.
import { seeds } from "./shell-fuzz-seeds.ts"

const tokens = [
  ..."; & && || | |& ( ) { } $( ) ` ' \" \\ \t $ ${ } $(( )) (( )) [[ ]] < > >> << <<- <<< <( >( # ! * ? [ ] ~ = : - , @ % ^ / evil ok k ev il rm sudo env xargs sh -c eval exec command builtin . source E EOF do done then fi esac in ;; ;& if while for case function f() coproc time -exec -delete PATH=. A= x= $x $1 $@ $' $\" -v -n -i -I{} {} -- -e -f w e out -o a[ x[ -eq let declare read set trap printf unset local -p -S ${!x} ${x@P} ${x:=b} ${x:-".split(
    " ",
  ),
  "\n",
  "\\\n",
  "\r",
  "\n\n",
  " \\\n",
  "'a[$(evil)]'",
  "$(evil)",
  "`evil`",
  "-exec evil {} +",
  "w out",
  "<<E\n",
  "\nE\n",
  "<<'E'\n",
  "<<-'E'\n\t",
  "<<'E' ",
  "\n$(evil)\nE\n",
  "\n'$(evil)'\n",
  "#'\n",
  "\\\\\n",
  ")\n",
  "esac)",
  "<<<",
  "$'\\''",
  "\u00a0",
  "'($(evil))'",
  "[[ a || evil ]]",
  "declare -a ",
]
/** In the place of one. */
const blanks = ["\n", "\t", "\\\n", "", ";", "  ", "\n\n"]
/** Around a whole line. */
const around: [before: string, after: string][] = [
  ["$(", ")"],
  ["`", "`"],
  ['"$(', ')"'],
  ["{ ", "; }"],
  ["(", ")"],
  ["ok <(", ")"],
  ["ok <<E\n$(", ")\nE\n"],
  ["eval '", "'"],
  ["bash -c '", "'"],
  ['sh -c "', '"'],
  ["sh -c '", "'"],
  ["env ", ""],
  ["env A=1 ", ""],
  ["env -S '", "'"],
  ["xargs ", ""],
  ["xargs -I% ", ""],
  ["xargs -n1 ", ""],
  ["timeout 5 ", ""],
  ["nice ", ""],
  ["command ", ""],
  ["builtin ", ""],
  ["exec ", ""],
  ["ok $((", "))"],
  ["((", "))"],
  ["x=", ""],
  ["a=(", ")"],
  ["ok ${x:-", "}"],
  ["[[ ", " ]]"],
  ["f() { ", "; }; f"],
  ["if ok; then ", "; fi"],
  ["for x in a; do ", "; done"],
  ["case x in x) ", ";; esac"],
  ["ok a | ", ""],
  ["! ", ""],
  ["time ", ""],
  ["coproc ", ""],
  ["ok <<'E'\n", "\nE\n"],
  ["ok <<-\\E && ok b\n", "\n\tE\n"],
  ["ok $(ok <<'E'\n", "\nE\n) b"],
  ['ok "', '"'],
  ["ok '", "'"],
  ["ok $'", "'"],
  ["ok >(", ")"],
  ["ok ${x#", "}"],
  ["a=(\n", "\n)"],
  ["case ", " in *) ok a;; esac"],
  ["ok {", ",b}"],
  ["ok # ", "\nok b"],
  ["while ok; do ", "; break; done"],
]

export function mutate(random: (below: number) => number): string {
  let line = seeds[random(seeds.length)]!
  for (let n = random(5); n > 0; n--) {
    const at = random(line.length + 1)
    const token = tokens[random(tokens.length)]!
    const kind = random(10)
    if (kind === 0) line = line.slice(0, at) + line.slice(at + 1 + random(3))
    else if (kind === 1) line = `${line.slice(0, at)} ${token} ${line.slice(at)}`
    else if (kind === 2) line = line.slice(0, at) + token + line.slice(at)
    else if (kind === 3) line = line.slice(0, at) + token + line.slice(at + 1)
    else if (kind === 4)
      line += `${["; ", " ", "\n", " | ", " && "][random(5)]}${seeds[random(seeds.length)]}`
    else if (kind === 5) {
      const [before, after] = around[random(around.length)]!
      line = before + line + after
    } else if (kind === 6) line = line.slice(0, at) + seeds[random(seeds.length)] + line.slice(at)
    else if (kind === 7) line = doubled(line, at, random)
    else if (kind === 8)
      line = line.replaceAll(" ", () => (random(6) === 0 ? blanks[random(blanks.length)]! : " "))
    else
      line = line.replace(/\bok\b/g, (name) =>
        random(4) === 0 ? ["evil", "rm", "$x", "e'v'il"][random(4)]! : name,
      )
  }
  return line
}

/** A piece of it a second time, somewhere else. */
function doubled(line: string, at: number, random: (below: number) => number): string {
  const piece = line.slice(at, at + 1 + random(12))
  const to = random(line.length + 1)
  return line.slice(0, to) + piece + line.slice(to)
}

const letters = [
  ..."ab{},.1-\\\\'\"$#!~[]^=:/@+%",
  "$'",
  "\\x41",
  "\\n",
  "\\0",
  "\\c",
  "\\u41",
  "\\101",
  "{a,b}",
  "{1..2}",
  '"a"',
  "'b'",
  "\\\n",
  "é",
  "\u00a0",
]

/** One word, more or less: quotes, braces and escapes in any order. */
export function word(random: (below: number) => number): string {
  let text = ""
  for (let n = 1 + random(7); n > 0; n--) text += letters[random(letters.length)]
  return text
}

/** The same numbers in every run. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
