import type { Client } from 'ssh2'
import { errorText } from '@scanfarm/platform'
import { publicKeyBytes } from './ssh-keys.ts'

/** A machine and the keys to connect to it. */
export interface SshHost {
  readonly address: string
  readonly port: number
  readonly user: string
  /** OpenSSH private key. */
  readonly privateKey: string
  /** `ssh-ed25519 AAAA…`, the only host key that is accepted. */
  readonly hostKey: string
}

export type SshResult =
  | { readonly kind: 'completed'; readonly code: number; readonly output: string }
  /** The connection failed or was lost. */
  | { readonly kind: 'unreachable'; readonly reason: string }

const MOST_OUTPUT = 64 * 1024
const NO_CODE = -1

/**
 * Runs one shell line over a new connection and collects up to 64 KiB of its output. Rejects only with the signal's reason.
 * The connection is closed when the promise settles.
 */
export async function runOverSsh(
  host: SshHost,
  line: string,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<SshResult> {
  limits.signal.throwIfAborted()
  const { default: ssh2 } = await import('ssh2')
  const client = new ssh2.Client()
  const limit = AbortSignal.any([limits.signal, AbortSignal.timeout(limits.timeoutMs)])
  const session = new Session(host)
  try {
    return await session.run(client, line, limit)
  } catch (error) {
    limits.signal.throwIfAborted()
    const reason = limit.aborted ? `no answer within ${limits.timeoutMs / 1000} s` : errorText(error)
    return { kind: 'unreachable', reason: session.refusal ?? reason }
  } finally {
    client.destroy()
  }
}

class Session {
  /** Why the host key was not accepted. */
  refusal: string | undefined
  readonly #host: SshHost

  constructor(host: SshHost) {
    this.#host = host
  }

  run(client: Client, line: string, limit: AbortSignal): Promise<SshResult> {
    const { promise, resolve, reject } = Promise.withResolvers<SshResult>()
    // The client may emit several errors, and an unhandled one would end the program.
    client.on('error', reject)
    client.once('close', () => reject(new Error('the machine ended the connection')))
    // Resolving with the promise itself would leave nothing for the limit to reject.
    client.once('ready', () => void execute(client, line).then(resolve, reject))
    const end = () => reject(limit.reason)
    limit.addEventListener('abort', end, { once: true })
    try {
      client.connect(this.#config())
    } catch (error) {
      reject(error)
    }
    return promise.finally(() => limit.removeEventListener('abort', end))
  }

  #config() {
    const { address, port, user, privateKey } = this.#host
    return {
      host: address,
      port,
      username: user,
      privateKey,
      // The limit of the whole call applies.
      readyTimeout: 0,
      algorithms: { serverHostKey: ['ssh-ed25519' as const] },
      hostVerifier: (key: Buffer) => this.#verify(key),
    }
  }

  #verify(key: Buffer): boolean {
    if (key.equals(publicKeyBytes(this.#host.hostKey))) return true
    this.refusal =
      'it presents another host key than the one in its user data: the connection may be intercepted'
    return false
  }
}

function execute(client: Client, line: string): Promise<SshResult> {
  return new Promise((resolve, reject) => {
    client.exec(line, (error, channel) => {
      if (error) return reject(error)
      let output = ''
      let code = NO_CODE
      channel.setEncoding('utf8')
      channel.on('data', (chunk: string) => (output = `${output}${chunk}`.slice(0, MOST_OUTPUT)))
      channel.stderr.resume()
      channel.once('exit', (status: number | null) => (code = status ?? NO_CODE))
      channel.once('close', () => resolve({ kind: 'completed', code, output }))
    })
  })
}
