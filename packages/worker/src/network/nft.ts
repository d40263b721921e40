import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { errorText } from '@scanfarm/platform'

/** nft and tc need nothing of the environment of this process, which holds secrets. */
const ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C', HOME: '/' }
const MAX_REASON = 300

type Child = ChildProcessByStdio<Writable, Readable, Readable>

const start = (program: string, args: readonly string[]): Child =>
  spawn(program, args, { env: ENV, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] })

/** Runs a program to its end. Rejects with its first error. */
export const execute = async (program: string, args: readonly string[], input: string): Promise<string> => {
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

const MARK = '{"nftables":'

/** Long enough for a machine that is very busy. */
const ANSWER_MS = 60_000

/** An nft that stays: asking it takes a tenth of starting one. It answers each `list` with one line. */
export class NftSession {
  readonly #child: Child
  readonly #waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = []
  #problem = ''
  #isOver = false

  constructor() {
    this.#child = start('nft', ['-j', '-i'])
    this.#child.stdin.on('error', () => undefined)
    // An error leaves a list without an answer: the session ends, so that no answer is taken for another one.
    this.#child.stderr.on('data', (chunk: Buffer) => this.#end(chunk.toString().trim().slice(0, MAX_REASON)))
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      // A prompt may precede it.
      const at = line.indexOf(MARK)
      if (at >= 0) this.#waiting.shift()?.resolve(line.slice(at))
    })
    this.#child.on('error', (error) => this.#end(errorText(error)))
    this.#child.on('close', () => this.#end('it ended'))
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Executes statements, all of which apply or none, then `list` commands; resolves to the answer of each. */
  async ask(statements: string, lists: readonly string[]): Promise<string[]> {
    if (this.#isOver) throw new Error(`nft: ${this.#problem}`)
    const answers = lists.map(() => {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      this.#waiting.push({ resolve, reject })
      return promise
    })
    const timer = setTimeout(() => this.#end(`no answer within ${ANSWER_MS / 1000} s`), ANSWER_MS)
    this.#child.stdin.write(`${[statements, ...lists].join('\n')}\n`)
    try {
      return await Promise.all(answers)
    } finally {
      clearTimeout(timer)
    }
  }

  end(): void {
    this.#end('it was ended')
  }

  #end(reason: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#problem = reason
    this.#child.kill('SIGKILL')
    for (const { reject } of this.#waiting.splice(0)) reject(new Error(`nft: ${reason}`))
  }
}
