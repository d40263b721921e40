import { addAbortListener } from 'node:events'
import { errorText } from '@scanfarm/platform'
import { connect, type Connection } from '@scanfarm/runners'
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
  const limit = AbortSignal.any([limits.signal, AbortSignal.timeout(limits.timeoutMs)])
  let connection: Connection | undefined
  using _listener = addAbortListener(limit, () => connection?.close())
  try {
    connection = await open(host, limits.timeoutMs, limit)
    return await execute(connection, line)
  } catch (error) {
    limits.signal.throwIfAborted()
    const reason = limit.aborted ? `no answer within ${limits.timeoutMs / 1000} s` : errorText(error)
    return { kind: 'unreachable', reason }
  } finally {
    connection?.close()
  }
}

const open = (
  { address, port, user, privateKey, hostKey }: SshHost,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Connection> =>
  connect(
    {
      address: { host: address, port, user },
      key: Buffer.from(privateKey),
      knownHosts: '',
      hostKeys: 'strict',
      hostKey: publicKeyBytes(hostKey),
    },
    // The time limit of the command ends a connection that is lost.
    { timeoutMs, keepAlive: { intervalMs: 0, count: 0 } },
    signal,
  )

async function execute(connection: Connection, line: string): Promise<SshResult> {
  let output = ''
  let code: number | undefined
  const closed = Promise.withResolvers<void>()
  await connection.exec(line, (channel) => {
    channel.setEncoding('utf8')
    channel.on('data', (chunk: string) => (output = `${output}${chunk}`.slice(0, MOST_OUTPUT)))
    channel.stderr.resume()
    channel.once('exit', (status: number | null) => (code = status ?? NO_CODE))
    channel.once('close', closed.resolve)
  })
  await closed.promise
  // A channel also closes with its connection.
  if (code === undefined) throw new Error('the machine ended the connection')
  return { kind: 'completed', code, output }
}
