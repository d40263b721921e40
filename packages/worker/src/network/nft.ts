import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { errorText } from '@scanfarm/platform'

/**
 * nft and tc need nothing of the environment of this process, which holds secrets. In a home nft would read and write a
 * history of all statements, which becomes large.
 */
const ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C',
  HOME: '/dev/null',
}
const MAX_REASON = 300

type Child = ChildProcessByStdio<Writable, Readable, Readable>

const start = (program: string, args: readonly string[]): Child =>
  spawn(program, args, { env: ENV, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] })

/** Runs a program to its end. Rejects with its first error. */
export const execute = async (program: string, args: readonly string[], input = ''): Promise<string> => {
  const child = start(program, args)
  const failed = once(child, 'error').then(([error]: unknown[]) => {
    throw new Error(`${program}: ${errorText(error)}`)
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const ended = Promise.all([textOf(child.stdout), textOf(child.stderr), once(child, 'close')])
  const [output, problem] = await Promise.race([ended, failed])
  if (child.exitCode === 0) return output
  throw new Error(
    `${program}: ${problem.trim().slice(0, MAX_REASON) || `exit code ${String(child.exitCode)}`}`,
  )
}

/** Runs nft, as a default with statements of which all apply or none. */
export const nft = (input: string, args: readonly string[] = ['-f', '-']): Promise<string> =>
  execute('nft', args, input)

/** Long enough for a machine that is very busy. */
const ANSWER_MS = 60_000

/** A program that stays: asking it takes a tenth of starting one. It answers in the order of the questions. */
class Session {
  readonly #program: string
  readonly #waiting: { resolve: (answer: string) => void; reject: (error: Error) => void }[] = []
  #problem = ''
  #isOver = false
  protected readonly child: Child

  constructor(program: string, args: readonly string[]) {
    this.#program = program
    this.child = start(program, args)
    this.child.stdin.on('error', () => undefined)
    this.child.on('error', (error) => this.end(errorText(error)))
    this.child.on('close', () => this.end('it ended'))
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** What waits for an answer is rejected. */
  end(reason = 'it was ended'): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#problem = reason
    this.child.kill('SIGKILL')
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(`${this.#program}: ${reason}`))
  }

  protected answer(text: string): void {
    this.#waiting.shift()?.resolve(text)
  }

  /** Resolves to this many answers. */
  protected async send(lines: readonly string[], count: number): Promise<string[]> {
    if (this.#isOver) throw new Error(`${this.#program}: ${this.#problem}`)
    const answers = Array.from({ length: count }, () => {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      this.#waiting.push({ resolve, reject })
      return promise
    })
    const timer = setTimeout(() => this.end(`no answer within ${ANSWER_MS / 1000} s`), ANSWER_MS)
    this.child.stdin.write(`${lines.join('\n')}\n`)
    try {
      return await Promise.all(answers)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** nft remembers all lines, and walks through them for each further one. */
const MOST_LINES = 2_000

const JSON_START = '{"nftables":'

/** It answers each `list` with one line. */
export class NftSession extends Session {
  #lines = 0

  constructor() {
    super('nft', ['-j', '-i'])
    // An error leaves a list without an answer: the session ends, so that no answer is taken for another one.
    this.child.stderr.on('data', (chunk: Buffer) => this.end(chunk.toString().trim().slice(0, MAX_REASON)))
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      // A prompt may precede it.
      const at = line.indexOf(JSON_START)
      if (at >= 0) this.answer(line.slice(at))
    })
  }

  /** It has become slow: another one should answer the next question. */
  get isWorn(): boolean {
    return this.#lines >= MOST_LINES
  }

  /** Executes statements, all of which apply or none, then `list` commands; resolves to the answer of each. */
  async ask(statements: string, lists: readonly string[]): Promise<string[]> {
    this.#lines += 1 + lists.length
    return await this.send([statements, ...lists], lists.length)
  }
}

/** tc says nothing of a statement that succeeds, and complains about this one. */
const MARK = 'all-done'

/** It takes a device for the one that first had its name. */
export class TcSession extends Session {
  #last = ''
  #problem = ''

  constructor() {
    // It goes on after an error, for instance of a device that has gone.
    super('tc', ['-force', '-batch', '-'])
    createInterface({ input: this.child.stderr }).on('line', (line) => this.#read(line))
  }

  /** Rejects with the first error; the other statements apply. */
  async change(statements: readonly string[]): Promise<void> {
    if (statements.length === 0) return
    const [problem = ''] = await this.send([...statements, MARK], 1)
    if (problem !== '') throw new Error(`tc: ${problem.slice(0, MAX_REASON)}`)
  }

  #read(line: string): void {
    if (!line.startsWith('Command failed')) this.#last = line
    else if (this.#last.includes(MARK)) {
      this.answer(this.#problem)
      this.#problem = ''
    } else this.#problem ||= this.#last
  }
}
