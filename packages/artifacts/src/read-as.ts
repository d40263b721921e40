import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'

export interface FileUser {
  readonly uid: number
  readonly gid: number
}

/**
 * What a user reads at a path; fails when that user cannot, or when it is more than `maxBytes`. For files that their
 * owner closed to this process: links and other names lead the user to nothing but what it may read anyway.
 */
export async function* readAs(path: string, user: FileUser, maxBytes: number): AsyncGenerator<Buffer> {
  const child = spawn('/bin/sh', ['-c', 'test -f "$1" && exec cat <"$1"', 'sh', path], {
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
