import type { ConnectConfig, ServerHostKeyAlgorithm } from 'ssh2'
import { RunnerUnavailableError, formatSshAddress, type SshAddress } from '@scanfarm/contracts'
import { fingerprint, keyType, KnownHosts } from './known-hosts.ts'
import type { SshTarget } from './target.ts'
import { messageOf } from '../error-facts.ts'

const ALGORITHMS: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
]

/** Compares the key of one host with the file of known hosts while a connection is being made. */
export class HostKeyCheck {
  /** Why the host was refused. */
  refusal: RunnerUnavailableError | undefined
  fingerprint = ''
  readonly #known: KnownHosts
  readonly #address: Required<SshAddress>
  readonly #acceptsNew: boolean

  constructor(target: SshTarget, address: Required<SshAddress>) {
    this.#known = new KnownHosts(target.knownHosts)
    this.#address = address
    this.#acceptsNew = target.hostKeys === 'accept-new'
  }

  get config(): Pick<ConnectConfig, 'hostVerifier' | 'algorithms'> {
    return {
      hostVerifier: (key: Buffer) => this.#verifySafely(key),
      algorithms: { serverHostKey: this.#algorithms() },
    }
  }

  /** What is thrown here would end the program. */
  #verifySafely(key: Buffer): boolean {
    try {
      return this.#verify(key)
    } catch (error) {
      const why = messageOf(error)
      this.refusal = new RunnerUnavailableError(`the file of known hosts cannot be used: ${why}`, {
        cause: error,
      })
      return false
    }
  }

  #verify(key: Buffer): boolean {
    const { host, port } = this.#address
    this.fingerprint = fingerprint(key)
    const verdict = this.#known.check(host, port, key)
    if (verdict === 'unknown' && this.#acceptsNew) this.#known.add(host, port, key)
    else if (verdict !== 'known') this.refusal = new RunnerUnavailableError(this.#explain(verdict, key))
    return this.refusal === undefined
  }

  #explain(verdict: 'unknown' | 'changed' | 'revoked', key: Buffer): string {
    const { host, port } = this.#address
    const who = `the ssh host ${formatSshAddress(this.#address)}`
    const shown = `${keyType(key)} ${this.fingerprint}`
    if (verdict === 'revoked') return `${who} shows the key ${shown}, which ${this.#known.file} revokes`
    if (verdict === 'changed')
      return `${who} shows another key than ${this.#known.file} knows: ${shown}. Someone may be in between; if the host was set up anew, correct the file`
    return `${who} is not known: it shows ${shown}. If that is right, run "ssh-keyscan -p ${port} ${host} >> ${this.#known.file}", or allow "accept-new"`
  }

  /** A host with keys of several types must show one of those that the file can confirm. */
  #algorithms(): ServerHostKeyAlgorithm[] {
    const types = this.#known.typesFor(this.#address.host, this.#address.port)
    const isKnown = (name: string): boolean => types.includes(name.startsWith('rsa-') ? 'ssh-rsa' : name)
    return [...ALGORITHMS.filter(isKnown), ...ALGORITHMS.filter((name) => !isKnown(name))]
  }
}
