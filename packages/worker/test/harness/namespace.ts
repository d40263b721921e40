/** For programs of tests in a separate network namespace. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'

export const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8' })

/** Reports what happened to the test. */
export const report = (facts: Record<string, unknown>): void => console.log(JSON.stringify(facts))

/** nmap as a user with the right to raw sockets. */
export const nmap = (uid: number, ...args: string[]): string => {
  const ids = [`--reuid=${uid}`, '--regid=61001', '--clear-groups']
  const rights = ['--inh-caps=+net_raw', '--ambient-caps=+net_raw', 'env', 'NMAP_PRIVILEGED=1']
  const options = ['-n', '--max-retries', '0', '--host-timeout', '20s']
  return run('setpriv', ...ids, ...rights, 'nmap', ...options, ...args)
}

/** Starts a program with the argument `hold`, until it is `ready`. Returns what kills it. */
export const holdIn = async (file: string): Promise<() => Promise<void>> => {
  const child = spawn(process.execPath, [...process.execArgv, file, 'hold'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return async () => {
    child.kill('SIGKILL')
    await once(child, 'close')
  }
}

/** What a program with the argument `hold` does last. */
export const hold = (): void => {
  console.log('ready')
  setInterval(() => undefined, 60_000)
}
