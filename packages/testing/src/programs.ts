import { existsSync } from 'node:fs'
import { chmod, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'

const SEARCHED = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin']
const PROGRAMS =
  'awk base64 basename bash cat chmod chown cp curl cut date dd dirname du echo env expr false find flock getent grep head ' +
  'id ip kill ln ls mkdir mkfifo mktemp mv nc nice nohup nproc od perl printf ps python3 readlink rm rmdir sed seq ' +
  'setpriv setsid sh sha256sum sleep sort stat stty tail tar tee test timeout touch tr true uname uniq wc xargs yes'

/**
 * Makes a folder with links to the programs that commands of tests call, as far as the machine has them. With it as the
 * `PATH` of commands, workers do not look at all programs of the machine and ask all scanners for their versions.
 */
export const linkPrograms = async (folder: string): Promise<string> => {
  await mkdir(folder)
  await chmod(folder, 0o755)
  for (const name of PROGRAMS.split(' ')) {
    const found = SEARCHED.map((place) => join(place, name)).find((path) => existsSync(path))
    if (found !== undefined) await symlink(found, join(folder, name))
  }
  return folder
}
