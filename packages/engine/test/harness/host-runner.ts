import { spawn } from 'node:child_process'
import type { Command, CommandIo, Outcome, Runner } from '@scanfarm/contracts'

interface User {
  readonly uid: number
  readonly gid: number
}

/** The least that keeps the contract of a runner: real processes of this machine, whole groups killed. */
export const hostRunner = (user?: User): Runner => ({
  type: 'host',
  facts: {},
  sharesFiles: true,
  run: async (command, io) => await runProcess(command, io, user),
  push: async () => undefined,
  pull: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
})

const runProcess = async (
  { argv, env, cwd, timeoutMs }: Command,
  io: CommandIo,
  user: User | undefined,
): Promise<Outcome> => {
  const [program = '', ...args] = argv
  if (io.signal.aborted) return { kind: 'cancelled', killed: [] }
  const child = spawn(program, args, {
    env: { ...env },
    cwd,
    detached: true,
    ...user,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  let ended: Outcome | undefined
  const kill = (kind: 'cancelled' | 'timed-out') => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    ended = { kind, killed: [child.pid] }
    process.kill(-child.pid, 'SIGKILL')
  }
  const cancel = () => kill('cancelled')
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => kill('timed-out'), timeoutMs)
  io.signal.addEventListener('abort', cancel, { once: true })
  child.once('spawn', () => io.onStart?.(child.pid ?? 0))
  const waits: Promise<void>[] = []
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (chunk: Buffer) => {
      const answer = io.onOutput?.(stream, chunk)
      if (answer !== undefined) waits.push(answer)
    })
  }
  child.once('error', (error) => resolve({ kind: 'not-started', reason: error.message }))
  child.once('close', (code, signal) => {
    resolve(ended ?? (code === null ? { kind: 'signalled', signal: signal ?? '' } : { kind: 'exited', code }))
  })
  const outcome = await promise
  clearTimeout(timer)
  io.signal.removeEventListener('abort', cancel)
  await Promise.all(waits)
  return outcome
}
