import { randomBytes } from 'node:crypto'
import type { OutputStream } from '@scanfarm/contracts'
import { StatusScanner } from './status-scanner.ts'
import { commandText, sessionFunctions, type SessionCommand } from './session-script.ts'
import { errorText } from '@scanfarm/platform'

export interface StreamChunk {
  readonly stream: OutputStream
  readonly bytes: Buffer
}

/** A connection to a `/bin/sh` that reads its commands from stdin. */
export interface ShellChannel {
  /** Read at the pace of the reader. Ends, or throws, when the shell or the connection has ended. */
  readonly chunks: AsyncIterable<StreamChunk>
  write(text: string): void
  /** Closes stdin: the shell ends after its last command. */
  end(): void
  close(): void
}

export type CommandEnd =
  | { readonly kind: 'ended'; readonly code: number; readonly oomKills: number }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'gone'; readonly why?: string }

export interface CommandObserver {
  started(pid: number): void
  output(stream: OutputStream, chunk: Buffer): void | Promise<void>
}

interface Job {
  readonly scanners: Record<OutputStream, StatusScanner>
  readonly watcher: CommandObserver
  readonly end: PromiseWithResolvers<CommandEnd>
  started: boolean
  refused?: string
  /** What the shell wrote to stderr before the program started. */
  shellOutput: string
  ending: Set<OutputStream>
  last?: CommandEnd
}

const MOST_SHELL_OUTPUT = 2_000

export const newNonce = (): string => `\x1e${randomBytes(12).toString('hex')}`

/** Runs one command at a time in one shell, because opening a shell takes far longer than running a command in it. */
export class ShellSession {
  /** Settles when the shell has ended. */
  readonly gone: Promise<void>
  readonly #channel: ShellChannel
  #job: Job | undefined
  #isGone = false
  #why: string | undefined

  constructor(channel: ShellChannel) {
    this.#channel = channel
    channel.write(sessionFunctions())
    this.gone = this.#pump()
  }

  get usable(): boolean {
    return !this.#isGone && this.#job === undefined
  }

  /** Resolves when all processes of the command are dead and all output was received. */
  async run(command: Omit<SessionCommand, 'nonce'>, watcher: CommandObserver): Promise<CommandEnd> {
    if (this.#isGone) return { kind: 'gone', why: this.#why }
    const nonce = newNonce()
    const job: Job = {
      scanners: { stdout: new StatusScanner(nonce), stderr: new StatusScanner(nonce) },
      watcher,
      end: Promise.withResolvers<CommandEnd>(),
      started: false,
      shellOutput: '',
      ending: new Set(),
    }
    this.#job = job
    this.#channel.write(commandText({ ...command, nonce }))
    return await job.end.promise
  }

  close(): void {
    this.#channel.close()
  }

  async #pump(): Promise<void> {
    try {
      for await (const { stream, bytes } of this.#channel.chunks) {
        if (this.#job !== undefined) await this.#receive(this.#job, stream, bytes)
      }
    } catch (error) {
      this.#why = errorText(error)
    } finally {
      this.#isGone = true
      this.#channel.close()
      this.#job?.end.resolve({ kind: 'gone', why: this.#why })
    }
  }

  async #receive(job: Job, stream: OutputStream, bytes: Buffer): Promise<void> {
    for (const part of job.scanners[stream].scan(bytes)) {
      if ('words' in part) this.#handleStatus(job, stream, part.words)
      else if (job.started || stream === 'stdout') await job.watcher.output(stream, part.output)
      else job.shellOutput = (job.shellOutput + part.output.toString()).slice(0, MOST_SHELL_OUTPUT)
    }
  }

  #handleStatus(job: Job, stream: OutputStream, [word, ...rest]: readonly string[]): void {
    if (word === 'started') {
      job.started = true
      job.watcher.started(Number(rest[0]))
    }
    if (word === 'refused') job.refused = rest[0]
    if (word !== 'end') return
    job.ending.add(stream)
    if (stream === 'stderr') job.last = endOf(job, rest)
    if (job.ending.size < 2 || job.last === undefined) return
    this.#job = undefined
    job.end.resolve(job.last)
  }
}

const endOf = (job: Job, [code, oomKills]: readonly string[]): CommandEnd =>
  job.started
    ? { kind: 'ended', code: Number(code), oomKills: Number(oomKills) }
    : { kind: 'refused', why: job.refused ?? (job.shellOutput.trim() || `its shell ended with code ${code}`) }
