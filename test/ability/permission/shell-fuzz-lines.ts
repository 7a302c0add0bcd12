// Lines for shell-fuzz.test.ts: pieces of shell with all its odd corners, and how they are changed at random.

const seeds = [
  "ok a b && ok c",
  "ok a | ok b |& ok c",
  "ok a; ok b & ok c",
  "ok $(ok a) `ok b`",
  'ok "$(ok a)" "`ok b`" "x $x"',
  "ok ${x:-$(ok a)} ${y#b} ${#z}",
  'ok "${x:-\'$(ok a)\'}" ${x:-\'a\'} "${x:+"b"}"',
  "ok $((1 + 2)) $((x + 1)) $[1 + 2]",
  "x=1; ok $((x + ${x})) $(($(ok) + 1))",
  "for f in a b; do ok $f; find $f -name x; done",
  "for f in a b; do find \"$f\" -name '*'; done",
  'd=a; find $d -name x; find "$d"/b',
  'd=a; d=$d/b; find "$d" -type f',
  "for ((i = 0; i < 2; i++)); do ok $i; done",
  "while ok a; do ok b; break; done",
  "if ok a; then ok b; elif ok c; then ok d; else ok e; fi",
  "case x in x) ok a ;; *) ok b ;; esac",
  "case x in (x|y) ok a ;& z) ok b ;;& *) ok c; esac",
  "f() { ok a; }; ok b",
  "function f { ok a; }",
  "f() ( ok $1 ); f a",
  "{ ok a; ok b; }",
  "( ok a; ok b )",
  "((1 + 1)) && ok a",
  "ok <<E\ntext $(ok a)\nE\n",
  "ok <<'E'\ntext $(evil)\nE\n",
  'ok <<"E" && ok b\ntext `evil`\nE\n',
  "ok <<\\E\n$(evil)\nE\nok b",
  "ok <<-E\n\ttext `ok a`\n\tE\n",
  "ok <<E <<F\n$(ok a)\nE\n${x:-b}\nF\nok c",
  "ok $(ok <<E\n$(ok a)\nE\n)",
  "ok <<<'text' 2>/dev/null",
  'ok <<<"$(ok a)"',
  "ok <(ok a) >(ok b)",
  "ok a 2>&1 >/dev/null",
  "ok a < f 3<&0 3<&-",
  "ok a # evil",
  "ok a;# evil\nok b",
  "ok 'a b' \"c d\" e\\ f $'g\\x20h'",
  "ok $'a\\'b' $'\\n' $'\\0evil' \"\\$(evil)\" '`evil`'",
  "A=1 ok a",
  "x=1; ok $x",
  'a=(1 2); ok ${a[0]} ${a[@]} "${a[@]}"',
  "a[0]=1; a+=(2); ok ${a[1]} ${#a[@]}",
  "x='a[$(evil)]'; ok $x",
  "x='a[$(evil)]' y=x; ok $y",
  "read x < f; ok $x",
  "for x in 'a[$(evil)]' b; do ok $x; done",
  "declare -a a; a=(1); declare x=1; ok $x",
  "export A=1 B=$(ok a); ok",
  'set -- a b; ok $1 "$@"',
  "set -e; ok a",
  "printf '%s' \"$x\"; printf -- a",
  "unset x; wait; ok",
  "[[ -f a && b == c* ]] && ok a",
  "[[ 1 -eq 1 || $x -gt 2 ]] || ok b",
  "[[ a =~ b(c) ]] || ok a",
  "[ -f a ] || ok b",
  "test -f a && ok b",
  "! ok a",
  "time ok a",
  "time -p ok a",
  "coproc ok a",
  "coproc C { ok a; }",
  "ok a{b,c}d *.ts ?x [a-z] {1..3}",
  "ok a \\\n b",
  "o\\\nk a",
  "select x in a; do ok a; break; done </dev/null",
  "until ok a; do ok b; break; done",
  "find . -name '*.ts' -type f",
  "find . \\( -name a -o -name b \\) -print",
  "git log --oneline -5",
  "echo evil 'evil' \"evil\"",
  "ok ~ ~/a !x ^a^b",
  'ok $"text" ${x@Q}',
  "ok a || { ok b; } && ( ok c )",
  "xargs ok a < f",
  "xargs -n 1 ok < f",
  "xargs -I{} ok {} < f",
  "xargs -0 -r ok a",
  "env A=1 ok a",
  "env -i ok a",
  "timeout 5 ok a",
  "timeout -k 1 5 ok a",
  "nice -n 5 ok a",
  "command ok a; command -v ok",
  "builtin echo a; exec ok a",
  "bash -c 'ok a; ok b'",
  "sh -c 'ok \"$1\"' _ a",
  "eval 'ok a' b",
  "eval ok '$x'",
  "sed -n '1,5p' f",
  "sed 's/a/b/g;s/c/d/' f",
  "sed -e 's/[a]/b/' -e '/x/d' f",
  "sed ':a;N;$!ba;s/\\n/ /g' f",
  "sed '1i\\text' f",
  "awk '{print $1}' f",
  "awk -F: -v x=1 '$1 > 2 {print $2 / 3}' f",
  "awk '/a/ {print \"x\"} END {print NR}' f",
  "sort -rn -k1,1 f | uniq -c",
]
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
]
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
]

export function mutate(random: (below: number) => number): string {
  let line = seeds[random(seeds.length)]!
  for (let n = random(5); n > 0; n--) {
    const at = random(line.length + 1)
    const token = tokens[random(tokens.length)]!
    const kind = random(7)
    if (kind === 0) line = line.slice(0, at) + line.slice(at + 1 + random(3))
    else if (kind === 1) line = `${line.slice(0, at)} ${token} ${line.slice(at)}`
    else if (kind === 2) line = line.slice(0, at) + token + line.slice(at)
    else if (kind === 3) line = line.slice(0, at) + token + line.slice(at + 1)
    else if (kind === 4)
      line += `${["; ", " ", "\n", " | ", " && "][random(5)]}${seeds[random(seeds.length)]}`
    else if (kind === 5) {
      const [before, after] = around[random(around.length)]!
      line = before + line + after
    } else
      line = line.replace(/\bok\b/g, (name) =>
        random(4) === 0 ? ["evil", "rm", "$x", "e'v'il"][random(4)]! : name,
      )
  }
  return line
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
