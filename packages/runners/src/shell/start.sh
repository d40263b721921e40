# Becomes a program: start.sh NONCE FOLDER PROGRAM WORD...  Says on stderr what it became, or why it could not.
nonce=$1
folder=$2
program=$3
shift 3

refuse() {
  printf '%s refused %s\n' "$nonce" "$1" >&2
  exit 126
}

runnable() {
  [ -f "$1" ] && [ -x "$1" ]
}

on_path() {
  IFS=:
  set -f
  for place in $PATH; do
    runnable "${place:-.}/$program" && return 0
  done
  return 1
}

cd "$folder" 2>/dev/null || refuse folder
case $program in
  */*)
    [ -e "$program" ] || refuse missing
    runnable "$program" || refuse denied
    ;;
  *) on_path || refuse missing ;;
esac
printf '%s started %s\n' "$nonce" "$$" >&2
exec "$@"
