import type { ConnectConfig, ServerHostKeyAlgorithm } from 'ssh2'
import { RunnerUnavailableError, formatSshAddress, type SshAddress } from '@scanfarm/contracts'
import { fingerprint, keyType, KnownHosts } from './known-hosts.ts'
import type { SshTarget } from './target.ts'
import { errorText } from '@scanfarm/platform'

const ALGORITHMS: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
]

/** Checks the key of one host against the file of known hosts during a handshake. */
export class HostKeyCheck {
  /** Why the host was refused. */
  refusal: RunnerUnavailableError | undefined
  fingerprint = ''
  readonly #known: KnownHosts
  readonly #address: Required<SshAddress>
  readonly #acceptsNew: boolean
  readonly #only: Buffer | undefined

  constructor(target: SshTarget, address: Required<SshAddress>) {
    this.#known = new KnownHosts(target.knownHosts)
    this.#address = address
    this.#acceptsNew = target.hostKeys === 'accept-new'
    this.#only = target.hostKey
  }

  get config(): Pick<ConnectConfig, 'hostVerifier' | 'algorithms'> {
    return {
      hostVerifier: (key: Buffer) => this.#verifySafely(key),
      algorithms: { serverHostKey: this.#algorithms() },
    }
  }

  /** An exception in the library's callback would end the program. */
  #verifySafely(key: Buffer): boolean {
    try {
      return this.#verify(key)
    } catch (error) {
      const why = errorText(error)
      this.refusal = new RunnerUnavailableError(
        `the file of known hosts ${this.#known.file} cannot be used: ${why}`,
        {
          cause: error,
        },
      )
      return false
    }
  }

  #verify(key: Buffer): boolean {
    const { host, port } = this.#address
    this.fingerprint = fingerprint(key)
    if (this.#only !== undefined) {
      if (this.#only.equals(key)) return true
      const shown = `${keyType(key)} ${this.fingerprint}`
      this.refusal = new RunnerUnavailableError(
        `the ssh host ${formatSshAddress(this.#address)} shows another host key than the one that it was given: ${shown}. The connection may be intercepted`,
      )
      return false
    }
    const verdict = this.#known.check(host, port, key)
    if (verdict === 'unknown' && this.#acceptsNew) this.#known.add(host, port, key)
    else if (verdict !== 'known') this.refusal = new RunnerUnavailableError(this.#explain(verdict, key))
    return this.refusal === undefined
  }

  #explain(verdict: 'unknown' | 'changed' | 'revoked', key: Buffer): string {
    const { host, port } = this.#address
    const who = `the ssh host ${formatSshAddress(this.#address)}`
    const shown = `${keyType(key)} ${this.fingerprint}`
    if (verdict === 'revoked') return `${who} shows the key ${shown}, which is revoked in ${this.#known.file}`
    if (verdict === 'changed')
      return `${who} shows another key than the one in ${this.#known.file}: ${shown}. This can be an attack; if the host was reinstalled, correct the file`
    return `${who} is not known: it shows ${shown}. If this key is correct, run "ssh-keyscan -p ${port} ${host} >> ${this.#known.file}", or set "accept-new"`
  }

  /** Prefers the types of the known keys, because a host with keys of several types must show a known one. */
  #algorithms(): ServerHostKeyAlgorithm[] {
    const { host, port } = this.#address
    const types = this.#only === undefined ? this.#known.typesFor(host, port) : [keyType(this.#only)]
    const isKnown = (name: string): boolean => types.includes(name.startsWith('rsa-') ? 'ssh-rsa' : name)
    return [...ALGORITHMS.filter(isKnown), ...ALGORITHMS.filter((name) => !isKnown(name))]
  }
}
