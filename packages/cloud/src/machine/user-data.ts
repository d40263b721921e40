import { stringify } from 'yaml'
import type { SshKeyPair } from '../keys.ts'
import { packagesFor } from './packages.ts'
import { makeWorkFolder } from './work-folder.ts'

/** Says that a new machine has done all it was told; the first word is `ok`, or `failed` with a code. */
export const MARKER_FILE = '/var/lib/scanfarm/ready'
/** What the setup commands printed. */
export const SETUP_LOG = '/var/lib/scanfarm/setup.log'
const SETUP_FILE = '/var/lib/scanfarm/setup'
const LAST_FILE = '/var/lib/scanfarm/finish'

export interface MachineSetup {
  /** User that runs work as; made with sudo unless it is `root`. */
  readonly user: string
  /** `ssh-ed25519 AAAA…` that opens it. */
  readonly publicKey: string
  /** What the machine shows to those who connect. */
  readonly hostKey: SshKeyPair
  /** Programs that shall be there. */
  readonly tools: readonly string[]
  /** The operator's own shell commands, run as root in this order until one fails. */
  readonly commands: readonly string[]
  /** Where servers keep the folders of runs; missing: they make it themselves, which needs sudo. */
  readonly workFolder?: string
}

/**
 * The `#cloud-config` document of a new machine. Everything comes in as a value of the document; the commands, which are
 * shell text by nature, as a file of their own. Images need cloud-init, and for the tools apt.
 */
export function userDataOf(setup: MachineSetup): string {
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
    // Runs when packages are installed, and nothing of ours comes after it.
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
  const folder = workFolder === undefined ? [] : [makeWorkFolder(user, workFolder)]
  return ['#!/bin/sh', 'set -e', ...SETTING, ...folder, ...commands, ''].join('\n')
}

/** cloud-init sets neither, and installers miss both. */
const SETTING = ['export HOME=/root', 'export DEBIAN_FRONTEND=noninteractive']

/** The marker appears in one piece: whoever sees it sees all of it. */
const LAST_SCRIPT = `#!/bin/sh
if ${SETUP_FILE} </dev/null >${SETUP_LOG} 2>&1; then echo ok >${MARKER_FILE}.new; else echo "failed $?" >${MARKER_FILE}.new; fi
chmod 644 ${MARKER_FILE}.new ${SETUP_LOG}
mv ${MARKER_FILE}.new ${MARKER_FILE}
`
