import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { AppError } from '@scanfarm/contracts'
import { VERSION } from '../version.ts'
import { errorBody } from './error-body.ts'

const REFUSALS: Readonly<Record<string, { readonly status: string; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: 'the request line and headers are too large together',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    message: 'the request did not come in whole in time',
  },
}
const OTHER = { status: '400 Bad Request', message: 'this is no HTTP/1.1 request that can be read' }

/** A client that does not close its side in this time is cut off; at once, and it might not see the answer. */
const LINGER_MS = 1_000

/** Answers what Node cannot make a request of like every other refusal, and ends the connection. */
export const answerBroken = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  // A connection that is gone has nobody to answer to; one with an answer under way would get two in one.
  if (error.code === 'ECONNRESET' || !socket.writable || answering(socket)) return void socket.destroy(error)
  const { status, message } = REFUSALS[error.code ?? ''] ?? OTHER
  const requestId = randomUUID()
  const body = JSON.stringify(errorBody(new AppError('bad_request', message), requestId))
  const head = [
    `HTTP/1.1 ${status}`,
    `X-Request-Id: ${requestId}`,
    `Scanfarm-Version: ${VERSION}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  const limit = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(limit))
}

const answering = (socket: Duplex): boolean => {
  const { _httpMessage: message } = socket as Duplex & { _httpMessage?: { headersSent?: boolean } | null }
  return message?.headersSent === true
}
