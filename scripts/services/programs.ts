import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A program of the machine that tests or the demo need, and the Debian package that brings it. */
export interface Program {
  readonly name: string
  readonly debianPackage: string
}

export const PROGRAMS = {
  redis: { name: 'redis-server', debianPackage: 'redis-server' },
  docker: { name: 'dockerd', debianPackage: 'docker.io' },
  sshd: { name: 'sshd', debianPackage: 'openssh-server' },
  ssh: { name: 'ssh', debianPackage: 'openssh-client' },
  bash: { name: 'bash', debianPackage: 'bash' },
  curl: { name: 'curl', debianPackage: 'curl' },
  openssl: { name: 'openssl', debianPackage: 'openssl' },
  chromium: { name: 'chromium', debianPackage: 'chromium' },
  chromiumShell: { name: 'chromium-headless-shell', debianPackage: 'chromium-headless-shell' },
  busybox: { name: 'busybox', debianPackage: 'busybox-static' },
  bubblewrap: { name: 'bwrap', debianPackage: 'bubblewrap' },
  nft: { name: 'nft', debianPackage: 'nftables' },
  ip: { name: 'ip', debianPackage: 'iproute2' },
  nmap: { name: 'nmap', debianPackage: 'nmap' },
  pgbouncer: { name: 'pgbouncer', debianPackage: 'pgbouncer' },
} as const satisfies Record<string, Program>

// Daemons live in folders that an ordinary user's PATH leaves out.
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/sbin', '/sbin']

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export const findProgram = (name: string): string | undefined =>
  [...(process.env.PATH ?? '').split(delimiter), ...SYSTEM_FOLDERS]
    .map((folder) => join(folder, name))
    .find(isExecutable)

const missingOf = (programs: readonly Program[]): Program[] =>
  programs.filter(({ name }) => findProgram(name) === undefined)

const canInstall = (): boolean => process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')

/** A mirror may stumble, and another apt-get may be at work. */
const APT_OPTIONS = ['Dpkg::Use-Pty=0', 'Acquire::Retries=5', 'DPkg::Lock::Timeout=300']

const apt = (...args: string[]): void => {
  execFileSync('apt-get', ['-q', '-y', ...APT_OPTIONS.flatMap((option) => ['-o', option]), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // No questions, and no starting of daemons: those that are needed are started on private ports.
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  })
}

const packagesOf = (programs: readonly Program[]): string[] => [
  ...new Set(programs.map(({ debianPackage }) => debianPackage)),
]

/** Installs what is missing where that is possible (root, Debian); otherwise says exactly what to install. */
export const ensurePrograms = (programs: readonly Program[]): void => {
  const missing = missingOf(programs)
  if (missing.length === 0) return
  const packages = packagesOf(missing)
  if (canInstall()) {
    console.error(`installing ${packages.join(', ')} by apt-get`)
    apt('update')
    apt('install', '--no-install-recommends', ...packages)
  }
  const still = missingOf(missing)
  if (still.length === 0) return
  const names = still.map(({ name }) => name).join(', ')
  throw new Error(
    `missing on this machine: ${names}; install them, on Debian as root: apt-get install ${packagesOf(still).join(' ')}`,
  )
}
