import type Docker from 'dockerode'

const LINES = 3
const HEADER_BYTES = 8
const MOST_CHARACTERS = 500

/** `: …` with what the container wrote last, or `''`. */
export async function lastWords(container: Docker.Container, abortSignal: AbortSignal): Promise<string> {
  const options = { stdout: true, stderr: true, tail: LINES, abortSignal }
  const bytes = await container.logs(options).catch(() => Buffer.alloc(0))
  const text = unframed(bytes)
    .trim()
    .replaceAll(/\s*\n\s*/g, '; ')
  return text === '' ? '' : `: ${text.slice(-MOST_CHARACTERS)}`
}

/** The engine puts a header with the length before each piece. */
function unframed(bytes: Buffer): string {
  const pieces: string[] = []
  for (let at = 0; at + HEADER_BYTES <= bytes.length;) {
    const end = at + HEADER_BYTES + bytes.readUInt32BE(at + 4)
    pieces.push(bytes.toString('utf8', at + HEADER_BYTES, end))
    at = end
  }
  return pieces.join('')
}
