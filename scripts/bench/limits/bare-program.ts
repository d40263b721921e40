import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A Node program of this folder that runs until it is disposed. */
export class BareProgram implements Disposable {
  /** What it printed first. */
  readonly said: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, said: string) {
    this.#child = child
    this.said = said
  }

  /** Resolves when the program has printed something. */
  static async start(file: string, ...args: readonly string[]): Promise<BareProgram> {
    const words = ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, file), ...args]
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [unknown]
    if (!Buffer.isBuffer(said)) throw new Error(`${file} ended with code ${String(said)}`)
    return new BareProgram(child, said.toString().trim())
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
  }
}
