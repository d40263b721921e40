import { connect } from 'node:net'
import pg from 'pg'

/** What a statement gets beyond its time before the server is asked to cancel it, and again before the connection ends. */
const PATIENCE_MS = 2_000
const CANCEL_REQUEST = 80_877_102
const CANCEL_BYTES = 16

export type Overdue = (step: 'cancel' | 'disconnect') => void

/**
 * Ends what runs for too long on a connection, whoever set no `statement_timeout` there (a pooler may stand in between,
 * or the server be gone): first the statement, by a cancel request, then the connection.
 */
export const watchStatements = (client: pg.ClientBase, timeoutMs: number, onOverdue: Overdue): void => {
  let timer: NodeJS.Timeout | undefined
  const calm = (): void => clearTimeout(timer)
  const arm = (): void => {
    calm()
    timer = setTimeout(() => {
      onOverdue('cancel')
      cancelOn(client)
      timer = setTimeout(() => {
        onOverdue('disconnect')
        if (client instanceof pg.Client) void client.end().catch(() => undefined)
      }, PATIENCE_MS)
    }, timeoutMs + PATIENCE_MS)
  }
  client.on('drain', calm)
  client.on('end', calm)
  client.query = new Proxy(client.query, {
    apply: (query, self, args): unknown => {
      arm()
      return Reflect.apply(query, self, args)
    },
  })
}

/** The protocol has it on a connection of its own, without an answer; a pooler passes it on to the right server. */
const cancelOn = (client: pg.ClientBase): void => {
  const { host, port, processID, secretKey } = { host: '', port: 0, processID: 0, secretKey: 0, ...client }
  const request = Buffer.alloc(CANCEL_BYTES)
  request.writeInt32BE(CANCEL_BYTES, 0)
  request.writeInt32BE(CANCEL_REQUEST, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.on('error', () => socket.destroy()).setTimeout(PATIENCE_MS, () => socket.destroy())
  socket.on('connect', () => socket.end(request)).resume()
}
