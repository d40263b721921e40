import { connect } from 'node:net'
import pg from 'pg'

/** Extra time before an overdue statement is cancelled, and again before its connection is closed. */
const GRACE_MS = 2_000
const CANCEL_REQUEST = 80_877_102
const CANCEL_BYTES = 16

export type Overdue = (step: 'cancel' | 'disconnect') => void

/**
 * Enforces the time limit of statements where `statement_timeout` cannot (behind a pooler, or if the server does not
 * respond): cancels the statement, then closes the connection.
 */
export const watchStatements = (client: pg.ClientBase, timeoutMs: number, onOverdue: Overdue): void => {
  let timer: NodeJS.Timeout | undefined
  const disarm = (): void => clearTimeout(timer)
  const arm = (): void => {
    disarm()
    timer = setTimeout(() => {
      onOverdue('cancel')
      cancelOn(client)
      timer = setTimeout(() => {
        onOverdue('disconnect')
        if (client instanceof pg.Client) void client.end().catch(() => undefined)
      }, GRACE_MS)
    }, timeoutMs + GRACE_MS)
  }
  client.on('drain', disarm)
  client.on('end', disarm)
  client.query = new Proxy(client.query, {
    apply: (query, self, args): unknown => {
      arm()
      return Reflect.apply(query, self, args)
    },
  })
}

/** A cancel request needs a separate connection and has no response. A pooler forwards it to the right server. */
const cancelOn = (client: pg.ClientBase): void => {
  const { host, port, processID, secretKey } = { host: '', port: 0, processID: 0, secretKey: 0, ...client }
  const request = Buffer.alloc(CANCEL_BYTES)
  request.writeInt32BE(CANCEL_BYTES, 0)
  request.writeInt32BE(CANCEL_REQUEST, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.on('error', () => socket.destroy()).setTimeout(GRACE_MS, () => socket.destroy())
  socket.on('connect', () => socket.end(request)).resume()
}
