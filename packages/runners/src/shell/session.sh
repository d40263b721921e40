# Functions of a shell session, which runs commands one after the other. Every process of a command has a marker in its
# environment, by which it is found. Exit codes are those of the shell: 128 and more for a signal.

scanfarm_setsid=$(command -v setsid)

# newest_pid: sets $newest to the newest pid, or to 0 if the system does not report it correctly.
scanfarm_newest_pid() {
  newest=0
  [ -n "$scanfarm_reports_pid" ] && read -r load1 load5 load15 tasks newest </proc/loadavg
} 2>/dev/null

# Some containers report the newest pid of another pid namespace: it must be close to one that was just assigned.
scanfarm_reports_pid=yes
scanfarm_probe=$(/bin/sh -c 'echo $$')
scanfarm_newest_pid
[ "$newest" -ge "$scanfarm_probe" ] && [ "$newest" -lt $((scanfarm_probe + 1000)) ] || scanfarm_reports_pid=

# Rounds of 50 ms to wait for a process to show its environment.
scanfarm_start_rounds=100

# Some implementations of grep, like BusyBox's, read a line only up to its first NUL, or do not support -o.
scanfarm_grep=
[ "$(printf 'a\0b\n' | grep -oaE 'b|^.' 2>/dev/null | tr '\n' ' ')" = 'a b ' ] && scanfarm_grep=yes

# show_marks MARKER FILE...: sets $shown to a word for each process that shows its environment: PID:m with the marker,
# PID:x without it. Both come from one reading: between two the process may execute another program.
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
    pid=${file#/proc/}
    pid=${pid%/environ}
    # A process that executes another program meanwhile shows only a part of its environment.
    for attempt in 1 2 3 4 5; do
      scanfarm_program "$pid"
      first=$program
      scanfarm_read_mark "$file" "$wanted"
      [ "$mark" = x ] || break
      scanfarm_program "$pid"
      [ "$program" != "$first" ] || break
    done
    [ -z "$mark" ] || shown="$shown $pid:$mark"
  done
} 2>/dev/null

# program PID: sets $program to where the code and the environment of the process lie: an exec changes them.
scanfarm_program() {
  program=
  read -r line <"/proc/$1/stat" || return
  set -- ${line##*) }
  program="${24} ${48} ${49}"
}

# read_mark FILE PATTERN: sets $mark to m if the environment has the pattern, to x if not, to nothing if it is empty.
scanfarm_read_mark() {
  mark=
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      $2) mark=m ;;
      *) mark=${mark:-x} ;;
    esac
  done <"$1"
}

# is_starting PID: whether a process that showed no environment is in the middle of an exec: it lives, is no kernel
# thread, belongs to this user, and shows an environment by now, no arguments either, or no start of its code, which the
# kernel sets after both. Servers that overwrite their arguments and environment with their state show arguments only.
scanfarm_is_starting() {
  [ -r "/proc/$1/environ" ] && read -r line <"/proc/$1/stat" || return
  set -- "$1" ${line##*) }
  [ "$2" != Z ] && [ $(($8 & 2097152)) -eq 0 ] || return
  [ "${25}" != 0 ] || return 0
  line=
  IFS= read -r line <"/proc/$1/cmdline"
  [ -n "$line" ] || return 0
  line=
  IFS= read -r line <"/proc/$1/environ"
  [ -n "$line" ]
} 2>/dev/null

# find_marked MARKER PID: sets $found to the living processes with the marker that are newer than the pid. Usually there
# is no newer process, which is known without starting a program. If pids wrapped around, all processes count. If none is
# found, $starting tells whether some process does not show its environment yet.
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

# find_tree MARKER LEADER: sets $found to all processes with the marker and the living members of the leader's group and
# session, each once: many programs end at once at a second INT.
scanfarm_find_tree() {
  scanfarm_find_marked "$1" 0
  [ "$2" -gt 0 ] || return
  for folder in /proc/[0-9]*; do
    read -r line <"$folder/stat" || continue
    set -- "$1" "$2" ${line##*) }
    case " $found " in *" ${folder#/proc/} "*) continue ;; esac
    [ "$3" != Z ] && { [ "$5" = "$2" ] || [ "$6" = "$2" ]; } && found="$found ${folder#/proc/}"
  done 2>/dev/null
}

# rounds_of PID NAME:ROUNDS...: sets $own to the rounds of a program of one of these names, else to nothing. A script that
# `env` started has the name of its interpreter; it is the first argument.
scanfarm_rounds_of() {
  own=
  IFS= read -r name <"/proc/$1/comm" || return
  case $name in
    *sh | python* | perl* | ruby*) script=$(tr '\0' '\n' <"/proc/$1/cmdline" | sed -n '2{s,.*/,,;s,^\(.\{15\}\).*,\1,;p;q;}') ;;
    *) script= ;;
  esac
  shift
  for word; do
    case ${word%:*} in "$name" | "$script") own=${word#*:} ;; esac
  done
} 2>/dev/null

# interrupt NAME:ROUNDS...: sends INT to programs of these names, TERM to others. Sets $patient to a word for each of the
# former: PID:ROUNDS.
scanfarm_interrupt() {
  patient=
  for one in $found; do
    scanfarm_rounds_of "$one" "$@"
    if [ -z "$own" ]; then
      kill -TERM "$one"
    else
      kill -INT "$one"
      patient="$patient $one:$own"
    fi
  done
  kill -CONT $found
} 2>/dev/null

# may_wait ROUND: whether a program that got INT has rounds left.
scanfarm_may_wait() {
  for word in $patient; do
    case " $found " in *" ${word%:*} "*) [ "$1" -ge "${word#*:}" ] || return 0 ;; esac
  done
  return 1
}

# kill_all NONCE MARKER LEADER ROUNDS [NAME:ROUNDS]...: sends TERM, or INT to programs of these names, waits up to ROUNDS
# times 50 ms, for these programs up to theirs, sends KILL until no process is left, and reports the pids.
scanfarm_kill_all() {
  answer="$1 killed"
  group=$2
  leader=$3
  rounds=$4
  shift 4
  killed=
  patient=
  round=0
  # A process that survives so many hangs in the kernel.
  kills=0
  while [ $kills -lt 200 ]; do
    scanfarm_find_tree "$group" "$leader"
    if [ -z "$found" ]; then
      [ -n "$starting" ] && [ $round -lt $((rounds + scanfarm_start_rounds)) ] || break
    else
      if [ $round -ge "$rounds" ] && ! scanfarm_may_wait $round; then
        kill -KILL $found
        kills=$((kills + 1))
      elif [ -z "$killed" ]; then
        scanfarm_interrupt "$@"
      fi
      killed="$killed $found"
    fi
    round=$((round + 1))
    sleep 0.05
  done 2>/dev/null
  echo "$answer" $killed
}

# count_oom_kills: sets $oom_kills to the number of processes that the kernel killed in this container for lack of memory.
scanfarm_count_oom_kills() {
  oom_kills=0
  for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$file" ] || continue
    while read -r key value; do
      [ "$key" = oom_kill ] && oom_kills=$value
    done <"$file"
  done
}

# finish NONCE MARKER PID CODE: gives background processes of the command half a second, kills them, and reports the end.
# PID was the newest one before the command.
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
