const HANDSHAKE = 22
const CONTENT = 23
const HEADER_BYTES = 5
const LENGTH_AT = 3
/** Later than that a first request is not what the connection was opened for: tools could collect connections. */
const FIRST_MS = 1_000

/**
 * What the client of a tunnel sends; each record of TLS with content waits for a turn, as it may be a request, or, without
 * TLS, each piece. The tunnel has paid for the first one, if it comes at once.
 */
export async function* metered(
  source: AsyncIterable<Buffer>,
  turn: () => Promise<unknown>,
): AsyncGenerator<Buffer> {
  let isTls: boolean | undefined
  const opened = performance.now()
  let isFirst = true
  const pay = async (): Promise<void> => {
    if (!isFirst || performance.now() - opened > FIRST_MS) await turn()
    isFirst = false
  }
  let held: Buffer = Buffer.alloc(0)
  /** Bytes until the next record. */
  let left = 0
  for await (const chunk of source) {
    isTls ??= chunk[0] === HANDSHAKE
    if (!isTls) {
      await pay()
      yield chunk
      continue
    }
    let rest = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    held = rest.subarray(0, 0)
    while (rest.length > 0) {
      if (left === 0) {
        if (rest.length < HEADER_BYTES) {
          held = rest
          break
        }
        if (rest[0] === CONTENT) await pay()
        left = HEADER_BYTES + rest.readUInt16BE(LENGTH_AT)
      }
      const part = rest.subarray(0, left)
      left -= part.length
      rest = rest.subarray(part.length)
      yield part
    }
  }
  if (held.length > 0) yield held
}
