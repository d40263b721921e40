import { spawn } from 'node:child_process'
import type { StreamChunk, ShellChannel } from '../src/shell/shell-session.ts'

/** A shell on this machine. */
export function openShell(): ShellChannel {
  const shell = spawn('/bin/sh', { stdio: 'pipe' })
  const chunks = async function* (): AsyncGenerator<StreamChunk> {
    const queue: StreamChunk[] = []
    let wake = Promise.withResolvers<void>()
    let closed = false
    shell.stdout.on('data', (bytes: Buffer) => wake.resolve(void queue.push({ stream: 'stdout', bytes })))
    shell.stderr.on('data', (bytes: Buffer) => wake.resolve(void queue.push({ stream: 'stderr', bytes })))
    shell.once('close', () => wake.resolve(void (closed = true)))
    while (!closed) {
      await wake.promise
      wake = Promise.withResolvers<void>()
      yield* queue.splice(0)
    }
  }
  return {
    chunks: chunks(),
    write: (text) => void shell.stdin.write(text),
    end: () => void shell.stdin.end(),
    close: () => void shell.kill('SIGKILL'),
  }
}
