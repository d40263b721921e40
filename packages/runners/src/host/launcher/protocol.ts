import type { Owner } from '@scanfarm/contracts'

/** All that the launcher needs to start a process; nothing is inherited. */
export interface LaunchRequest {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Named pipes whose reading ends are already open. */
  readonly stdout: string
  readonly stderr: string
  readonly uid?: number
  readonly gid?: number
  /** The attempt's marker: if this program dies, the launcher kills every process that has it. */
  readonly marker: string
}

/**
 * The messages between a program and its launcher. A request is the number of bytes, a line feed, and fields separated
 * by NUL; the first field is `launch`, `forget`, `kill-user` or `pipes`. `kill-user` kills every process of a user and
 * `pipes` makes named pipes; both end with code 0; if they fail, the program does it itself. Replies are lines:
 *
 *     ready
 *     started ID PID
 *     failed ID ERRNO
 *     ended ID CODE SIGNAL ORPHANS
 *
 * CODE and SIGNAL are numbers; SIGNAL is 0 for a program that exited. ORPHANS is 0 if the launcher adopts orphans and had
 * none, which means that no process of an earlier command exists, and 1 otherwise. `failed` is the last reply for its ID
 * that counts: `started` before it means only that a process was created, and replies after it are ignored.
 */
const MOST_REPLY = 1_000
const NUL = '\0'

export function launchMessage(id: number, request: LaunchRequest): Buffer {
  const { argv, env, cwd, stdout, stderr, uid, gid, marker } = request
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const head = [id, marker, uid ?? '', gid ?? '', cwd, stdout, stderr, argv.length].map(String)
  return frame(['launch', ...head, ...argv, ...variables])
}

export const killUserMessage = (id: number, { uid, gid }: Owner): Buffer =>
  frame(['kill-user', ...[id, uid, gid].map(String)])

export const pipesMessage = (id: number, paths: readonly string[]): Buffer =>
  frame(['pipes', String(id), ...paths])

export const forgetMessage = (marker: string): Buffer => frame(['forget', marker])

/** The system ends arguments and variables at a NUL, so no program can receive one. */
export function containsNul({ argv, env, cwd }: LaunchRequest): boolean {
  for (const name in env) if (name.includes(NUL) || env[name]?.includes(NUL)) return true
  return cwd.includes(NUL) || argv.some((word) => word.includes(NUL))
}

function frame(fields: readonly string[]): Buffer {
  const payload = Buffer.from(fields.join(NUL))
  return Buffer.concat([Buffer.from(`${payload.length}\n`), payload])
}

export type LauncherRequest =
  | { readonly kind: 'launch'; readonly id: number; readonly request: LaunchRequest }
  | { readonly kind: 'forget'; readonly marker: string }
  | { readonly kind: 'kill-user' | 'pipes'; readonly id: number }

/** Parses requests from the chunks of a stream. */
export class RequestReader {
  #partial: Buffer = Buffer.alloc(0)

  read(chunk: Buffer): LauncherRequest[] {
    const requests: LauncherRequest[] = []
    let rest = this.#partial.length > 0 ? Buffer.concat([this.#partial, chunk]) : chunk
    for (;;) {
      const lineEnd = rest.indexOf('\n')
      const end = lineEnd + 1 + Number(rest.subarray(0, Math.max(lineEnd, 0)).toString())
      if (lineEnd < 0 || rest.length < end) break
      requests.push(
        requestOf(
          rest
            .subarray(lineEnd + 1, end)
            .toString()
            .split(NUL),
        ),
      )
      rest = rest.subarray(end)
    }
    this.#partial = rest
    return requests
  }
}

function requestOf([kind, ...fields]: readonly string[]): LauncherRequest {
  if (kind === 'kill-user' || kind === 'pipes') {
    return { kind, id: Number(fields[0]) }
  }
  if (kind !== 'launch') return { kind: 'forget', marker: fields[0] ?? '' }
  const [id, marker = '', uid, gid, cwd = '', stdout = '', stderr = '', words, ...rest] = fields
  const argv = rest.slice(0, Number(words))
  const env = Object.fromEntries(rest.slice(Number(words)).map(splitVariable))
  const ids = { uid: numberOrNone(uid), gid: numberOrNone(gid) }
  return { kind: 'launch', id: Number(id), request: { argv, env, cwd, stdout, stderr, marker, ...ids } }
}

const numberOrNone = (text: string | undefined): number | undefined => (text ? Number(text) : undefined)

function splitVariable(text: string): [string, string] {
  const at = text.indexOf('=')
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Parses replies from the chunks of a stream. */
export class ReplyReader {
  #partial = ''

  read(chunk: Buffer): string[][] {
    const lines = (this.#partial + chunk.toString()).split('\n')
    this.#partial = (lines.pop() ?? '').slice(0, MOST_REPLY)
    return lines.map((line) => line.split(' '))
  }
}
