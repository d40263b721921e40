# start.sh NONCE FOLDER PROGRAM ARGUMENT...: executes a program in the folder. Reports the pid, or the reason of the
# failure, on stderr.
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
  for folder_of_path in $PATH; do
    runnable "${folder_of_path:-.}/$program" && return 0
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
