import { pack, type Pack } from 'tar-stream'
import { quote } from '@scanfarm/runners'
import type { UserData } from './user-data.ts'

const FOLDER = '/var/lib/scanfarm-boot'
const FIRST_UID = 1000
/** The main program of a machine's container, one of `bootFiles`: any image with a shell and sshd can be used. */
export const BOOT_COMMAND = ['/bin/sh', `${FOLDER}/boot`]

/** A tar stream for `/` of the container, which makes its first start behave like cloud-init. */
export function bootFiles({ users, ssh_keys, write_files, runcmd }: UserData, document: string): Pack {
  const stream = pack()
  stream.entry({ name: `${FOLDER.slice(1)}/`, type: 'directory', mode: 0o700 })
  const add = (path: string, content: string, mode: number): void =>
    void stream.entry({ name: path.slice(1), mode }, content)
  add('/var/lib/cloud/instance/user-data.txt', document, 0o600)
  add('/etc/ssh/ssh_host_ed25519_key', ssh_keys.ed25519_private, 0o600)
  add('/etc/ssh/scanfarm_sshd_config', SSHD_CONFIG, 0o644)
  for (const [index, { ssh_authorized_keys: keys }] of users.entries())
    add(keysPath(index), `${keys.join('\n')}\n`, 0o600)
  for (const { path, content, permissions } of write_files)
    add(path, content, Number.parseInt(permissions, 8))
  add(`${FOLDER}/users`, users.map(makeUser).join('\n'), 0o600)
  add(`${FOLDER}/commands`, runcmd.map((words) => `${words.map(quote).join(' ')}\n`).join(''), 0o600)
  add(`${FOLDER}/boot`, BOOT, 0o700)
  stream.finalize()
  return stream
}

const keysPath = (index: number): string => `${FOLDER}/keys-${index}`

/** PAM would need the files of a complete system and treat a locked password as a locked user. */
const SSHD_CONFIG = `Port 22
HostKey /etc/ssh/ssh_host_ed25519_key
AuthorizedKeysFile .ssh/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
UsePAM no
UseDNS no
PrintMotd no
PidFile none
MaxStartups 100
Subsystem sftp internal-sftp
`

/** As on a real machine, sshd accepts connections before the setup commands have finished. */
const BOOT = `cd /
umask 022
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
sshd=$(command -v sshd) || { echo 'there is no sshd in the image' >&2; exit 127; }
mkdir -p /run/sshd /var/log
chmod 755 /run/sshd
if mkdir ${FOLDER}/started 2>/dev/null; then
  grep -q '^sshd:' /etc/passwd || echo 'sshd:x:100:65534::/run/sshd:/bin/false' >> /etc/passwd
  . ${FOLDER}/users
  (sh ${FOLDER}/commands >> /var/log/cloud-init-output.log 2>&1 &)
fi
exec "$sshd" -D -e -f /etc/ssh/scanfarm_sshd_config
`

/** No password matches `*`; unlike `!` it does not lock the user. */
const makeUser = ({ name }: UserData['users'][number], index: number): string => `
if grep -q '^${name}:' /etc/passwd; then
  sed -i 's/^${name}:!*:/${name}:*:/' /etc/shadow
else
  shell=/bin/bash
  [ -x "$shell" ] || shell=/bin/sh
  echo "${name}:x:${FIRST_UID + index}:${FIRST_UID + index}::/home/${name}:$shell" >> /etc/passwd
  echo '${name}:x:${FIRST_UID + index}:' >> /etc/group
  echo '${name}:*:19000::::::' >> /etc/shadow
fi
while IFS=: read -r user password uid gid about home rest; do [ "$user" != ${name} ] || break; done < /etc/passwd
mkdir -p "$home/.ssh"
cat ${keysPath(index)} >> "$home/.ssh/authorized_keys"
chmod 700 "$home/.ssh"
chmod 600 "$home/.ssh/authorized_keys"
chown "$uid:$gid" "$home" "$home/.ssh" "$home/.ssh/authorized_keys"`
