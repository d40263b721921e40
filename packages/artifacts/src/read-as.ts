import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'

export interface FileUser {
  readonly uid: number
  readonly gid: number
}

const LIST_BYTES = 16 * 1024 * 1024
const NUMBER_BYTES = 64

/**
 * Reads a file as a user; fails if that user cannot, or if it has more than `maxBytes`. For files that this process cannot
 * read: links only lead to files that the user can read anyway.
 */
export const readAs = (path: string, user: FileUser, maxBytes: number): AsyncGenerator<Buffer> =>
  outputAs('test -f "$1" && exec cat <"$1"', [path], user, maxBytes)

/** Reads at most the first `bytes`. */
export const readStartAs = (path: string, user: FileUser, bytes: number): AsyncGenerator<Buffer> =>
  outputAs('test -f "$1" && exec head -c "$2" <"$1"', [path, String(bytes)], user, bytes)

export const sizeAs = async (path: string, user: FileUser): Promise<number> =>
  Number(await whole(outputAs('test -f "$1" && exec wc -c <"$1"', [path], user, NUMBER_BYTES)))

/** Paths of the regular files below a folder; fails if the user cannot list all of it. */
export const filesAs = async (folder: string, user: FileUser): Promise<Buffer[]> => {
  const list = await whole(outputAs('exec find "$1" -type f -print0', [folder], user, LIST_BYTES))
  const paths: Buffer[] = []
  for (let start = 0, end = list.indexOf(0); end >= 0; start = end + 1, end = list.indexOf(0, start))
    paths.push(list.subarray(start, end))
  return paths.sort((one, other) => one.compare(other))
}

const whole = async (chunks: AsyncIterable<Buffer>): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(chunks))

/** The output of a script that is executed as a user. */
async function* outputAs(
  script: string,
  args: readonly string[],
  user: FileUser,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const child = spawn('/bin/sh', ['-c', script, 'sh', ...args], {
    ...user,
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(child, 'exit')
  try {
    let bytes = 0
    const output: Readable = child.stdout
    for await (const chunk of output as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new Error(`it has more than the ${maxBytes} bytes allowed`)
      yield chunk
    }
    const [code] = (await ended) as [number | null]
    if (code !== 0) throw new Error(`the user ${user.uid} cannot read it either`)
  } finally {
    child.kill('SIGKILL')
  }
}
