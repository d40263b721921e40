import { createHash, createHmac } from 'node:crypto'
import { mkdirSync, appendFileSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '@scanfarm/paths'

export type HostVerdict = 'known' | 'unknown' | 'changed' | 'revoked'

interface Entry {
  readonly revoked: boolean
  readonly hosts: string
  readonly type: string
  readonly key: string
}

/** A file of host keys in OpenSSH's format: plain, hashed and negated names, `*` and `?`, `@revoked`. */
export class KnownHosts {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  get file(): string {
    return this.#file
  }

  /** Reads the file each time, because an operator may add a host while this program runs. */
  check(host: string, port: number, key: Buffer): HostVerdict {
    const wanted = key.toString('base64')
    const entries = this.#entriesFor(host, port)
    if (entries.some((entry) => entry.revoked && entry.key === wanted)) return 'revoked'
    const keys = entries.filter((entry) => !entry.revoked)
    if (keys.some((entry) => entry.key === wanted)) return 'known'
    return keys.length > 0 ? 'changed' : 'unknown'
  }

  /** The types of the known keys of the host. */
  typesFor(host: string, port: number): string[] {
    return [...new Set(this.#entriesFor(host, port).flatMap((entry) => (entry.revoked ? [] : [entry.type])))]
  }

  add(host: string, port: number, key: Buffer): void {
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
    const line = `${nameOf(host, port)} ${keyType(key)} ${key.toString('base64')}\n`
    appendFileSync(this.#file, line, { mode: 0o600 })
  }

  #entriesFor(host: string, port: number): Entry[] {
    const name = nameOf(host, port)
    return this.#lines().filter((entry) => matches(entry.hosts, name))
  }

  #lines(): Entry[] {
    return readIfExists(this.#file)
      .split('\n')
      .flatMap((line) => parseLine(line.trim()))
  }
}

const nameOf = (host: string, port: number): string =>
  (port === 22 ? host : `[${host}]:${port}`).toLowerCase()

/** The key begins with the length of its type and the type. */
export const keyType = (key: Buffer): string => key.subarray(4, 4 + key.readUInt32BE(0)).toString()

export const fingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

function parseLine(line: string): Entry[] {
  if (line === '' || line.startsWith('#')) return []
  const words = line.split(/\s+/)
  const mark = words[0]?.startsWith('@') ? words.shift() : undefined
  const [hosts, type, key] = words
  // Host certificates are not supported.
  if (mark === '@cert-authority' || hosts === undefined || type === undefined || key === undefined) return []
  return [{ revoked: mark === '@revoked', hosts, type, key }]
}

function matches(hosts: string, name: string): boolean {
  if (hosts.startsWith('|1|')) return matchesHash(hosts, name)
  const patterns = hosts.toLowerCase().split(',')
  const negated = patterns.some(
    (pattern) => pattern.startsWith('!') && matchesPattern(pattern.slice(1), name),
  )
  return !negated && patterns.some((pattern) => matchesPattern(pattern, name))
}

function matchesHash(hosts: string, name: string): boolean {
  const [, , salt = '', hash] = hosts.split('|')
  return createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest('base64') === hash
}

function matchesPattern(pattern: string, name: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`).test(name)
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return ''
    throw error
  }
}
