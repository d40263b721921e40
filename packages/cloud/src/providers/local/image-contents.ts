/** Programs that every machine needs. */
export const NEEDED_PROGRAMS = [
  'sshd',
  'sh',
  'cat',
  'chmod',
  'chown',
  'env',
  'grep',
  'mkdir',
  'sleep',
  'setsid',
]

/** Optional programs, included if this system has them. */
export const IMAGE_PROGRAMS: readonly string[] = [
  'awk base64 basename bash bc bzip2 cmp comm cp csplit curl cut date dd df diff dig dirname du',
  'echo egrep expand expr false fgrep file find flock fmt fold getent getopt gunzip gzip head host',
  'hostname id install ip join jq kill ldd less link ln logger ls md5sum mkfifo mktemp more mv nc',
  'nice nl nmap nohup nproc numfmt od openssl paste pgrep ping pkill pr printenv printf ps pwd',
  'readlink realpath rev rm rmdir sed seq sha1sum sha256sum sha512sum shuf sort split ss stat',
  'stdbuf stty sync tac tail tar tee test timeout touch tr true truncate tty uname unexpand uniq',
  'unlink unzip uptime wc wget which whoami whois xargs xxd xz yes zcat',
].flatMap((line) => line.split(' '))

/** Files and folders that programs need, included if this system has them. */
export const IMAGE_DATA: readonly string[] = [
  // Parts of newer releases of sshd.
  '/usr/lib/openssh/sshd-session',
  '/usr/lib/openssh/sshd-auth',
  '/usr/libexec/openssh/sshd-session',
  '/usr/libexec/openssh/sshd-auth',
  '/usr/lib/ssh/sshd-session',
  '/usr/lib/ssh/sshd-auth',
  '/etc/ld.so.cache',
  '/etc/protocols',
  '/etc/services',
  '/etc/ssl/openssl.cnf',
  '/usr/lib/ssl/openssl.cnf',
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/usr/lib/locale/C.utf8',
  '/usr/share/nmap',
  '/usr/share/misc/magic.mgc',
]

/** No user can log in before the first boot has created one. */
export const IMAGE_TEXTS: Readonly<Record<string, string>> = {
  '/etc/passwd':
    'root:x:0:0:root:/root:/bin/sh\nsshd:x:100:65534::/run/sshd:/bin/false\nnobody:x:65534:65534:nobody:/:/bin/false\n',
  '/etc/group': 'root:x:0:\nnogroup:x:65534:\n',
  '/etc/shadow': 'root:*:::::::\nsshd:*:::::::\nnobody:*:::::::\n',
  '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n',
  '/etc/shells': '/bin/sh\n/bin/bash\n',
  '/etc/os-release': 'ID=scanfarm\nPRETTY_NAME="Scanfarm machine"\n',
}

/** Empty folders, with their modes. */
export const IMAGE_FOLDERS: Readonly<Record<string, number>> = {
  '/dev': 0o755,
  '/home': 0o755,
  '/proc': 0o555,
  '/root': 0o700,
  '/run': 0o755,
  '/sys': 0o555,
  '/tmp': 0o1777,
  '/usr/bin': 0o755,
  '/usr/lib': 0o755,
  '/usr/sbin': 0o755,
  '/var/lib': 0o755,
  '/var/tmp': 0o1777,
}
