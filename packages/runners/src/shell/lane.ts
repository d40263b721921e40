import { randomBytes } from 'node:crypto'
import type { OutputStream } from '@scanfarm/contracts'
import { ControlScanner } from './control-scanner.ts'
import { commandText, laneFunctions, type LaneCommand } from './lane-script.ts'
import { messageOf } from '../error-facts.ts'

export interface Piece {
  readonly stream: OutputStream
  readonly bytes: Buffer
}

/** A `/bin/sh` somewhere that reads its commands from stdin. */
export interface ShellChannel {
  /** Read at the pace of the reader. Ends, or throws, when the shell or the way to it is gone. */
  readonly pieces: AsyncIterable<Piece>
  write(text: string): void
  /** Lets the shell read no more: it ends when it has done what it was told. */
  end(): void
  close(): void
}

export type LaneEnd =
  | { readonly kind: 'ended'; readonly code: number; readonly oomKills: number }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'gone'; readonly why?: string }

export interface LaneWatcher {
  started(pid: number): void
  output(stream: OutputStream, chunk: Buffer): void | Promise<void>
}

interface Job {
  readonly scanners: Record<OutputStream, ControlScanner>
  readonly watcher: LaneWatcher
  readonly end: PromiseWithResolvers<LaneEnd>
  started: boolean
  refused?: string
  /** What came before the program, such as the shell's own complaint. */
  noise: string
  ending: Set<OutputStream>
  last?: LaneEnd
}

const MOST_NOISE = 2_000

export const newNonce = (): string => `\x1e${randomBytes(12).toString('hex')}`

/** Runs one command at a time in one shell; opening a shell costs far more than running a command in it. */
export class Lane {
  /** Settles when no more commands can run here. */
  readonly gone: Promise<void>
  readonly #channel: ShellChannel
  #job: Job | undefined
  #isGone = false
  #why: string | undefined

  constructor(channel: ShellChannel) {
    this.#channel = channel
    channel.write(laneFunctions())
    this.gone = this.#pump()
  }

  get usable(): boolean {
    return !this.#isGone && this.#job === undefined
  }

  /** Resolves when the command and all it left behind are dead and all output was received. */
  async run(command: Omit<LaneCommand, 'nonce'>, watcher: LaneWatcher): Promise<LaneEnd> {
    if (this.#isGone) return { kind: 'gone', why: this.#why }
    const nonce = newNonce()
    const job: Job = {
      scanners: { stdout: new ControlScanner(nonce), stderr: new ControlScanner(nonce) },
      watcher,
      end: Promise.withResolvers<LaneEnd>(),
      started: false,
      noise: '',
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
      for await (const { stream, bytes } of this.#channel.pieces) {
        if (this.#job !== undefined) await this.#receive(this.#job, stream, bytes)
      }
    } catch (error) {
      this.#why = messageOf(error)
    } finally {
      this.#isGone = true
      this.#channel.close()
      this.#job?.end.resolve({ kind: 'gone', why: this.#why })
    }
  }

  async #receive(job: Job, stream: OutputStream, bytes: Buffer): Promise<void> {
    for (const piece of job.scanners[stream].scan(bytes)) {
      if ('words' in piece) this.#hear(job, stream, piece.words)
      else if (job.started || stream === 'stdout') await job.watcher.output(stream, piece.output)
      else job.noise = (job.noise + piece.output.toString()).slice(0, MOST_NOISE)
    }
  }

  #hear(job: Job, stream: OutputStream, [word, ...rest]: readonly string[]): void {
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

const endOf = (job: Job, [code, oomKills]: readonly string[]): LaneEnd =>
  job.started
    ? { kind: 'ended', code: Number(code), oomKills: Number(oomKills) }
    : { kind: 'refused', why: job.refused ?? (job.noise.trim() || `its shell ended with code ${code}`) }
