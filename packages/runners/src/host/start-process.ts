import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import type { LaunchRequest } from './launcher.ts'

/**
 * Starts one process with its output going straight into the named pipes. Throws what the system says, with `code`.
 *
 * The pipes are opened without waiting: with no reader left the call fails at once instead of hanging for ever. The
 * process itself gets blocking descriptors, since libuv clears the flag on descriptors 0 to 2.
 */
export function startProcess(request: LaunchRequest): Promise<ChildProcess> {
  const opened: number[] = []
  try {
    for (const path of [request.stdout, request.stderr])
      opened.push(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
    const [program = '', ...args] = request.argv
    const child = spawn(program, args, {
      env: request.env,
      cwd: request.cwd,
      uid: request.uid,
      gid: request.gid,
      detached: true,
      stdio: ['ignore', opened[0], opened[1]],
    })
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('spawn', () => resolve(child))
    })
  } catch (error) {
    return Promise.reject(error)
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}

export const pidOf = (child: ChildProcess): number => child.pid ?? 0
