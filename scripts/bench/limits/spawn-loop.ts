/**
 * Spawns the same command repeatedly and prints the number per second. A separate program, because Node starts
 * processes more slowly the more memory it uses.
 *
 *   spawn-loop.ts COMMANDS WIDTH PROGRAM [ARG…]
 */
import { spawn } from 'node:child_process'

const [commands = 0, width = 1] = process.argv.slice(2, 4).map(Number)
const [program = 'true', ...args] = process.argv.slice(4)

const runOne = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    child.stdout.resume()
    child.stderr.resume()
    child.once('error', reject).once('close', () => resolve())
  })

let started = 0
const runCommands = async (): Promise<void> => {
  while (started++ < commands) await runOne()
}

const began = performance.now()
await Promise.all(Array.from({ length: width }, runCommands))
console.log((commands / (performance.now() - began)) * 1_000)
