// The shell that waits beside a program until we are gone, and then ends it and all that stems from it: its group, what
// carries its mark, what we last said stems from it (`process-tree.ts`), and the children of all these. Called with the mark
// and the command; its descriptor 3 is the pipe that only we hold open.
import { markName } from "#ability/shell/environment.ts"

export const guardScript = `
marked() {
  [ -r /proc/self/environ ] || return
  grep -lsaF -e "$mark" /proc/[0-9]*/environ | tr -cs 0-9 " "
}
known() {
  for one in $told; do
    pid=\${one%%:*}
    if [ -r /proc/self/stat ]; then
      case " $(cat "/proc/$pid/stat") " in *" \${one#*:} "*) echo "$pid" ;; esac
    else
      [ "$(ps -o lstart= -p "$pid" | tr -cd "[:alnum:]")" = "\${one#*:}" ] && echo "$pid"
    fi
  done
}
parents() {
  if [ -r /proc/self/status ]
  then grep -s "^PPid:" /proc/[0-9]*/status | tr -cs 0-9 " "
  else ps -A -o pid= -o ppid=
  fi
}
look() {
  all=" $(echo $$ $all $(known) $(marked)) "
  pairs=$(parents)
  grown=yes
  while [ "$grown" ]; do
    grown=
    set -- $pairs
    while [ $# -gt 1 ]; do
      case $all in
      *" $1 "*) ;;
      *" $2 "*) all="$all$1 " grown=yes ;;
      esac
      shift 2
    done
  done
}
end() {
  for pid in $all; do [ "$pid" = "$me" ] || kill -s "$1" "$pid"; done
}
mark=$1
shift
(
  trap "" TERM INT HUP
  told=
  while read -r line; do told=$line; done
  # Its input ended with us as well. It must not be gone before its children were counted.
  kill -s STOP $$
  LC_ALL=C TZ=UTC
  export LC_ALL TZ
  me=$(exec sh -c 'echo $PPID')
  all=
  look
  end TERM
  kill -s TERM -- "-$$"
  kill -s CONT $$
  sleep 1
  look
  end KILL
  kill -s KILL -- "-$$"
) <&3 >/dev/null 2>&1 &
exec 3<&-
${markName}=\${${markName}:+$${markName}/}$mark
export ${markName}
exec "$@"
`
