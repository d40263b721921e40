import ssh2, { type Client } from 'ssh2'
import { errorText } from '@scanfarm/platform'
import { publicKeyBytes } from '../keys.ts'

/** A machine and what opens it. */
export interface SshPlace {
  readonly address: string
  readonly port: number
  readonly user: string
  /** OpenSSH private key. */
  readonly privateKey: string
  /** `ssh-ed25519 AAAA…`: the only key that is taken for this machine's. */
  readonly hostKey: string
}

export type SshAnswer =
  | { readonly kind: 'answered'; readonly code: number; readonly output: string }
  /** No connection, or none that lasted; `reason` says what happened. */
  | { readonly kind: 'silent'; readonly reason: string }

const MOST_OUTPUT = 64 * 1024
const NO_CODE = -1

/**
 * Asks a machine one thing over a connection of its own: a line for its user's shell and all that it prints, up to
 * 64 KiB. Rejects only with the signal's reason; everything is closed when it settles.
 */
export async function askOverSsh(
  place: SshPlace,
  line: string,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<SshAnswer> {
  limits.signal.throwIfAborted()
  const client = new ssh2.Client()
  const limit = AbortSignal.any([limits.signal, AbortSignal.timeout(limits.timeoutMs)])
  const question = new Question(place)
  try {
    return await question.ask(client, line, limit)
  } catch (error) {
    limits.signal.throwIfAborted()
    const why = limit.aborted ? `no answer within ${limits.timeoutMs / 1000} s` : errorText(error)
    return { kind: 'silent', reason: question.refusal ?? why }
  } finally {
    client.destroy()
  }
}

class Question {
  /** Why the machine was not believed to be ours. */
  refusal: string | undefined
  readonly #place: SshPlace

  constructor(place: SshPlace) {
    this.#place = place
  }

  ask(client: Client, line: string, limit: AbortSignal): Promise<SshAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<SshAnswer>()
    // Errors may come more than once, and one that nobody listens to would end the program.
    client.on('error', reject)
    client.once('close', () => reject(new Error('the machine ended the connection')))
    // Not resolved with the promise itself: that would leave nothing for the limit to reject.
    client.once('ready', () => void answerOf(client, line).then(resolve, reject))
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
    const { address, port, user, privateKey } = this.#place
    return {
      host: address,
      port,
      username: user,
      privateKey,
      // The limit of the whole question ends it.
      readyTimeout: 0,
      algorithms: { serverHostKey: ['ssh-ed25519' as const] },
      hostVerifier: (key: Buffer) => this.#verify(key),
    }
  }

  #verify(key: Buffer): boolean {
    if (key.equals(publicKeyBytes(this.#place.hostKey))) return true
    this.refusal = 'it shows another host key than the one it was given: someone may be in between'
    return false
  }
}

function answerOf(client: Client, line: string): Promise<SshAnswer> {
  return new Promise((resolve, reject) => {
    client.exec(line, (error, channel) => {
      if (error) return reject(error)
      let output = ''
      let code = NO_CODE
      channel.setEncoding('utf8')
      channel.on('data', (chunk: string) => (output = `${output}${chunk}`.slice(0, MOST_OUTPUT)))
      channel.stderr.resume()
      channel.once('exit', (status: number | null) => (code = status ?? NO_CODE))
      channel.once('close', () => resolve({ kind: 'answered', code, output }))
    })
  })
}
