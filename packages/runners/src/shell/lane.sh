# Functions of a shell that runs one command after the other. Everything of a command carries a marker in its
# environment, by which it is found here. Exit codes are those of the shell: 128 and more for a signal.

scanfarm_setsid=$(command -v setsid)
scanfarm_env=$(command -v env)

# newest_pid: the newest pid here, in $newest; 0 where the system does not tell it truly.
scanfarm_newest_pid() {
  newest=0
  [ -n "$scanfarm_tells_pid" ] && read -r load1 load5 load15 tasks newest </proc/loadavg
} 2>/dev/null

# Some containers show the pid of another machine there: it must be close to one that was just given out.
scanfarm_tells_pid=yes
scanfarm_probe=$(/bin/sh -c 'echo $$')
scanfarm_newest_pid
[ "$newest" -ge "$scanfarm_probe" ] && [ "$newest" -lt $((scanfarm_probe + 1000)) ] || scanfarm_tells_pid=

# Rounds of 50 ms that are waited for a process to show what it carries.
scanfarm_start_rounds=100

# Some greps, such as BusyBox's, see a line only up to its first NUL, or cannot print what they find.
scanfarm_grep=
[ "$(printf 'a\0b\n' | grep -oaE 'b|^.' 2>/dev/null | tr '\n' ' ')" = 'a b ' ] && scanfarm_grep=yes

# show_marks MARKER FOLDER...: in $shown a word for each process that shows its environment, PID:m with the marker and
# PID:x without it. Each environment is read once: a second reading may be of another program in the same process.
scanfarm_show_marks() {
  if [ -n "$scanfarm_grep" ]; then
    marker=$1
    shift
    shown=$(
      LC_ALL=C
      export LC_ALL
      grep -HoasE -e "SCANFARM_MARKER=$marker|^." "$@" | sed -n '
        s,^/proc/\([0-9]*\)/environ:SCANFARM_MARKER=.*,\1:m,p
        t
        s,^/proc/\([0-9]*\)/environ:.*,\1:x,p'
    )
    return
  fi
  shown=
  wanted="*SCANFARM_MARKER=$1*"
  shift
  for file; do
    mark=
    while IFS= read -r line || [ -n "$line" ]; do
      case $line in
        $wanted) mark=m ;;
        *) mark=${mark:-x} ;;
      esac
    done <"$file"
    file=${file#/proc/}
    [ -z "$mark" ] || shown="$shown ${file%/environ}:$mark"
  done
} 2>/dev/null

# is_starting PID: of a process that showed no environment, whether it lives, is none of the kernel's or someone else's,
# and shows an environment by now or shows no words either: one program is taking the place of another. Servers that
# write their state over their words and their environment show words only.
scanfarm_is_starting() {
  [ -r "/proc/$1/environ" ] && read -r line <"/proc/$1/stat" || return
  set -- "$1" ${line##*) }
  [ "$2" != Z ] && [ $(($8 & 2097152)) -eq 0 ] || return
  line=
  IFS= read -r line <"/proc/$1/cmdline"
  [ -n "$line" ] || return 0
  line=
  IFS= read -r line <"/proc/$1/environ"
  [ -n "$line" ]
} 2>/dev/null

# find_marked MARKER PID: in $found the living processes newer than the pid that carry the marker. Mostly there is no
# newer process at all, and no program needs to be started to know that. Where pids came round all of them count.
# Where none is found, $starting tells whether there are any that do not show yet what they carry.
scanfarm_find_marked() {
  found=
  starting=
  files=
  scanfarm_newest_pid
  [ "$newest" -ge "$2" ] && oldest=$2 || oldest=0
  for folder in /proc/[0-9]*; do
    [ "${folder#/proc/}" -gt "$oldest" ] && files="$files $folder/environ"
  done
  [ -n "$files" ] || return
  scanfarm_show_marks "$1" $files
  for word in $shown; do
    [ "${word#*:}" = m ] && found="$found ${word%:m}"
  done
  [ -z "$found" ] || return
  shown=" $(echo $shown) "
  for file in $files; do
    pid=${file#/proc/}
    pid=${pid%/environ}
    case $shown in
      *" $pid:"*) ;;
      *) scanfarm_is_starting "$pid" && starting=yes && return ;;
    esac
  done
}

# find_family MARKER LEADER: in $found those of any age, and the living members of the leader's group and session.
scanfarm_find_family() {
  scanfarm_find_marked "$1" 0
  [ "$2" -gt 0 ] || return
  for folder in /proc/[0-9]*; do
    read -r line <"$folder/stat" || continue
    set -- "$1" "$2" ${line##*) }
    [ "$3" != Z ] && { [ "$5" = "$2" ] || [ "$6" = "$2" ]; } && found="$found ${folder#/proc/}"
  done 2>/dev/null
}

# kill_all NONCE MARKER LEADER ROUNDS: TERM, as many rounds of 50 ms, KILL until none is left; then tells the pids.
scanfarm_kill_all() {
  killed=
  round=0
  while [ $round -lt $(($4 + 200)) ]; do
    scanfarm_find_family "$2" "$3"
    if [ -z "$found" ]; then
      [ -n "$starting" ] && [ $round -lt $(($4 + scanfarm_start_rounds)) ] || break
    else
      [ $round -lt "$4" ] || kill -KILL $found
      [ -n "$killed" ] || kill -TERM $found
      [ -n "$killed" ] || kill -CONT $found
      killed="$killed $found"
    fi
    round=$((round + 1))
    sleep 0.05
  done 2>/dev/null
  echo "$1 killed" $killed
}

# count_oom_kills: in $oom_kills how often the kernel killed in this container for want of memory.
scanfarm_count_oom_kills() {
  oom_kills=0
  for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$file" ] || continue
    while read -r key value; do
      [ "$key" = oom_kill ] && oom_kills=$value
    done <"$file"
  done
}

# finish NONCE MARKER PID CODE: gives what the command left behind half a second, kills it, and tells the end. PID was
# the newest one before the command.
scanfarm_finish() {
  round=0
  while [ $round -lt 200 ]; do
    scanfarm_find_marked "$2" "$3"
    if [ -z "$found" ]; then
      [ -n "$starting" ] && [ $round -lt $scanfarm_start_rounds ] || break
    elif [ $round -ge 10 ]; then
      kill -KILL $found
    fi
    round=$((round + 1))
    sleep 0.05
  done 2>/dev/null
  oom_kills=0
  [ "$4" -eq 137 ] && scanfarm_count_oom_kills
  printf '%s end\n' "$1"
  printf '%s end %s %s\n' "$1" "$4" "$oom_kills" >&2
}
