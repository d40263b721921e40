import { quote } from './quote.ts'

/**
 * Shell text that root runs on a machine: makes the folder for its user, who may pass through all above it. The folders of
 * runs have the same paths there as on the server, where they may lie in places that are closed to others.
 */
export const makeWorkFolder = (user: string, folder: string): string => `d=${quote(folder)}
install -d -o ${quote(user)} -- "$d"
while [ "$d" != / ]; do d=$(dirname -- "$d"); chmod a+x -- "$d"; done`

/** The same for the user itself, who need not be allowed to do so where there is nothing to do. */
export const ensureWorkFolder = (user: string, folder: string): string => {
  const test = `[ -d ${quote(folder)} ] && [ -w ${quote(folder)} ] && [ -x ${quote(folder)} ]`
  return `if ${test}; then exit 0; fi
mkdir -p -- ${quote(folder)} 2>/dev/null && ${test} && exit 0
exec sudo -n /bin/sh -ec ${quote(makeWorkFolder(user, folder))}`
}
