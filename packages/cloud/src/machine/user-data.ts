import { stringify } from 'yaml'
import type { SshKeyPair } from './ssh-keys.ts'
import { quote } from '@scanfarm/runners'
import { packagesFor } from './packages.ts'

/** Written at the end of the setup: `ok`, or `failed` with the exit code. */
export const MARKER_FILE = '/var/lib/scanfarm/ready'
/** Output of the setup commands. */
export const SETUP_LOG = '/var/lib/scanfarm/setup.log'
const SETUP_FILE = '/var/lib/scanfarm/setup'
const LAST_FILE = '/var/lib/scanfarm/finish'

export interface MachineSetup {
  /** User as which runs execute. Created with sudo rights unless it is `root`. */
  readonly user: string
  /** `ssh-ed25519 AAAA…`, authorized for the user. */
  readonly publicKey: string
  readonly hostKey: SshKeyPair
  /** Programs to install, as far as their packages are known. */
  readonly tools: readonly string[]
  /** The operator's shell commands, run as root in this order until one fails. */
  readonly commands: readonly string[]
  /** Folder of the runs. Missing: runs create it themselves, which needs sudo. */
  readonly workFolder?: string
}

/**
 * The `#cloud-config` document of a new machine. Commands are files in it, so that nothing is interpolated into shell text.
 * Images need cloud-init, and apt for the tools.
 */
export function renderUserData(setup: MachineSetup): string {
  const packages = packagesFor(setup.tools)
  const document = {
    ...accountOf(setup),
    ssh_pwauth: false,
    ssh_deletekeys: true,
    ssh_keys: { ed25519_private: setup.hostKey.privateKey, ed25519_public: setup.hostKey.publicKey },
    ...(packages.length === 0 ? {} : { package_update: true, packages }),
    write_files: [
      { path: SETUP_FILE, permissions: '0700', content: scriptOf(setup) },
      { path: LAST_FILE, permissions: '0700', content: LAST_SCRIPT },
    ],
    // Runs after the packages are installed.
    runcmd: [[LAST_FILE]],
  }
  return `#cloud-config\n${stringify(document, { lineWidth: 0 })}`
}

function accountOf({ user, publicKey }: MachineSetup): object {
  if (user === 'root')
    return {
      disable_root: false,
      users: [{ name: 'root', lock_passwd: false, ssh_authorized_keys: [publicKey] }],
    }
  return {
    users: [
      {
        name: user,
        shell: '/bin/bash',
        lock_passwd: true,
        sudo: 'ALL=(ALL) NOPASSWD:ALL',
        ssh_authorized_keys: [publicKey],
      },
    ],
  }
}

function scriptOf({ user, commands, workFolder }: MachineSetup): string {
  const folder = workFolder === undefined ? [] : [createWorkFolder(user, workFolder)]
  return ['#!/bin/sh', 'set -e', ...ENVIRONMENT, ...folder, ...commands, ''].join('\n')
}

/** Installers need both; cloud-init sets neither. */
const ENVIRONMENT = ['export HOME=/root', 'export DEBIAN_FRONTEND=noninteractive']

/** Renames the marker into place, so that readers see all of it or nothing. */
const LAST_SCRIPT = `#!/bin/sh
if ${SETUP_FILE} </dev/null >${SETUP_LOG} 2>&1; then echo ok >${MARKER_FILE}.new; else echo "failed $?" >${MARKER_FILE}.new; fi
chmod 644 ${MARKER_FILE}.new ${SETUP_LOG}
mv ${MARKER_FILE}.new ${MARKER_FILE}
`

/**
 * Shell text for root: creates the folder for its user, who gets access to all parent folders. Paths of run folders are the
 * same on machines as on the server, where their parents may be closed to other users.
 */
const createWorkFolder = (user: string, folder: string): string => `d=${quote(folder)}
install -d -o ${quote(user)} -- "$d"
while [ "$d" != / ]; do d=$(dirname -- "$d"); chmod a+x -- "$d"; done`

/** Shell text for the user: uses sudo only if the folder is missing or not usable. */
export const ensureWorkFolder = (user: string, folder: string): string => {
  const test = `[ -d ${quote(folder)} ] && [ -w ${quote(folder)} ] && [ -x ${quote(folder)} ]`
  return `if ${test}; then exit 0; fi
mkdir -p -- ${quote(folder)} 2>/dev/null && ${test} && exit 0
exec sudo -n /bin/sh -ec ${quote(createWorkFolder(user, folder))}`
}
