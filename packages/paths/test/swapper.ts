import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Swapper extends AsyncDisposable {
  /** How often the folder was a link. */
  readonly swaps: () => number
}

/** Each rename replaces the folder at once, so that the name is missing only for moments. */
const PROGRAM = `
const { renameSync, symlinkSync, mkdirSync, rmSync, unlinkSync } = require('node:fs')
const [folder, target] = process.argv.slice(1)
const [real, link] = [folder + '.real', folder + '.link']
for (let swaps = 0; ; ) {
  try {
    renameSync(folder, real)
    symlinkSync(target, link)
    renameSync(link, folder)
    swaps += 1
    if (swaps % 10 === 0) process.stdout.write('.')
    unlinkSync(folder)
    renameSync(real, folder)
  } catch {
    // The other side has removed or made one of them.
    try {
      rmSync(link, { force: true })
      rmSync(real, { recursive: true, force: true })
      mkdirSync(folder)
    } catch {}
  }
}`

/** A process that swaps a folder with a link to `target` in a tight loop. Resolves when it has begun. */
export const startSwapper = async (folder: string, target: string): Promise<Swapper> => {
  const child = spawn(process.execPath, ['-e', PROGRAM, folder, target], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let swaps = 0
  child.stdout.on('data', (dots: Buffer) => (swaps += dots.length * 10))
  await once(child.stdout, 'data')
  return {
    swaps: () => swaps,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'close')
    },
  }
}
