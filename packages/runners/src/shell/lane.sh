# Functions of a shell that runs one command after the other. Everything of a command carries a marker in its
# environment, by which it is found here. Signals and exit codes are those of the shell: 128 and more for a signal.

scanfarm_setsid=$(command -v setsid)
scanfarm_env=$(command -v env)

# marked MARKER: pids of living processes that carry it.
scanfarm_marked() {
  for file in $(grep -lsF -e "SCANFARM_MARKER=$1" /proc/[0-9]*/environ); do
    file=${file#/proc/}
    echo "${file%/environ}"
  done
}

# family MARKER LEADER: those, and the living members of the leader's group and session.
scanfarm_family() {
  scanfarm_marked "$1"
  [ "$2" -gt 0 ] || return
  for folder in /proc/[0-9]*; do
    read -r line <"$folder/stat" || continue
    set -- "$1" "$2" ${line##*) }
    [ "$3" != Z ] && { [ "$5" = "$2" ] || [ "$6" = "$2" ]; } && echo "${folder#/proc/}"
  done 2>/dev/null
}

# kill_all NONCE MARKER LEADER ROUNDS: TERM, as many rounds of 50 ms, KILL until none is left; then tells the pids.
scanfarm_kill_all() {
  killed=
  round=0
  while [ $round -lt $(($4 + 200)) ]; do
    family=$(scanfarm_family "$2" "$3")
    [ -n "$family" ] || break
    killed="$killed $family"
    if [ $round -ge "$4" ]; then
      kill -KILL $family
    elif [ $round -eq 0 ]; then
      kill -TERM $family
      kill -CONT $family
    fi
    round=$((round + 1))
    sleep 0.05
  done 2>/dev/null
  echo "$1 killed" $killed
}

# How often the kernel killed in this container for want of memory.
scanfarm_oom_kills() {
  count=0
  for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$file" ] || continue
    while read -r key value; do
      [ "$key" = oom_kill ] && count=$value
    done <"$file"
  done
}

# finish NONCE MARKER CODE: gives what the command left behind half a second, kills it, and tells the end.
scanfarm_finish() {
  round=0
  while [ $round -lt 200 ]; do
    rest=$(scanfarm_marked "$2")
    [ -n "$rest" ] || break
    [ $round -ge 10 ] && kill -KILL $rest
    round=$((round + 1))
    sleep 0.05
  done 2>/dev/null
  scanfarm_oom_kills
  printf '%s end\n' "$1"
  printf '%s end %s %s\n' "$1" "$3" "$count" >&2
}
