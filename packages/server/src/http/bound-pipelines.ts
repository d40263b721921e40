import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/** Browsers and clients wait for an answer before they send the next request. */
const MAX_UNANSWERED = 16

/**
 * Closes a connection that sends more requests without waiting for their answers: Node reads a thousand of them from one
 * packet, and would execute all of them before it serves another connection.
 */
export const boundPipelines = (handle: RequestListener): RequestListener => {
  const unanswered = new WeakMap<Socket, number>()
  return (request, response) => {
    const { socket } = request
    if (socket.destroyed) return
    const count = (unanswered.get(socket) ?? 0) + 1
    if (count > MAX_UNANSWERED) return void socket.destroy()
    unanswered.set(socket, count)
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1))
    handle(request, response)
  }
}
