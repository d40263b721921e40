# Run as a step: reads everything that it can reach of the farm, and tries actions that a step must not be able to do.
# The results are written to standard output; a line BREACH names an action that succeeded. The caller searches for secrets.
me=$(id -u)
for process in /proc/[0-9]*; do
  [ "$process" != "/proc/$$" ] || continue
  cat "$process/environ" "$process"/task/*/environ
  for link in "$process"/fd/*; do [ ! -f "$link" ] || head -c 65536 "$link"; done
  [ "$(stat -c %u "$process")" != "$me" ] || continue
  ! (exec 3< "$process/mem") || echo "BREACH: memory of $process"
  ! (ls "$process/root/" >&2 && ls "$process/cwd/" >&2) || echo "BREACH: folders of $process"
  ! kill -0 "${process#/proc/}" || echo "BREACH: signals to $process"
done
for socket in /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock; do
  [ ! -e "$socket" ] || echo "BREACH: $socket"
done
for folder in / /app /etc /run /run/scanfarm /var/lib/scanfarm /var/lib/scanfarm/artifacts \
  /var/lib/scanfarm/work /var/lib/scanfarm/work/workspaces "/var/lib/scanfarm/work/workspaces/$1"; do
  ! touch "$folder/planted" || echo "BREACH: writing in $folder"
done
! ls /run/scanfarm /run/secrets >&2 || echo "BREACH: the folder of the secrets"
! ls /var/lib/scanfarm/artifacts >&2 || echo "BREACH: the artifacts"
! ls "/var/lib/scanfarm/work/workspaces/$1" >&2 || echo "BREACH: the workspace $1"
cat /run/scanfarm/* /run/secrets/* "/var/lib/scanfarm/work/workspaces/$1"/*
for secret in database-url redis-url admin-token; do cat "/run/scanfarm/$secret" "/run/secrets/$secret"; done
find / -xdev -path /proc -prune -o -path /sys -prune -o -type f -size -64k \
  \( -path '/etc/*' -o -path '/run/*' -o -path '/tmp/*' -o -path '/var/*' -o -path '/home/*' -o -path '/root/*' \) \
  -not -path '/var/lib/dpkg/*' -exec cat {} +
find /tmp /run /dev/shm /var/lib/scanfarm -type f -size -64k -exec cat {} +
