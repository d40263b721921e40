import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'

interface Swapper extends AsyncDisposable {
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

/**
 * A process that swaps a folder with a link to `target` in a tight loop. Resolves when it has begun. At its end the
 * folder is there again, so that another one can begin.
 */
const startSwapper = async (folder: string, target: string): Promise<Swapper> => {
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
      rmSync(`${folder}.link`, { force: true })
      if (!existsSync(`${folder}.real`)) return
      rmSync(folder, { recursive: true, force: true })
      renameSync(`${folder}.real`, folder)
    },
  }
}

/**
 * Does something many times while a process swaps the folder with a link to `target`, and as long as it has not done
 * that often or none has succeeded. Tries may fail, since the folder is a link or missing; resolves to the number of the
 * others.
 */
export const raceSwapper = async (
  { folder, target, tries }: { readonly folder: string; readonly target: string; readonly tries: number },
  attempt: () => Promise<unknown>,
): Promise<number> => {
  await using swapper = await startSwapper(folder, target)
  const enough = swapper.swaps() + tries / 5
  let successes = 0
  for (let count = 0; count < tries || swapper.swaps() < enough || successes === 0; count++) {
    await attempt().then(
      () => (successes += 1),
      () => {},
    )
    // An attempt may fail without a turn of the event loop, which counts the swaps.
    await setImmediate()
  }
  return successes
}

/** By name, some of so many tries would leave the folder. */
export const RACE_TRIES = Number(process.env['SCANFARM_TEST_TRIES'] ?? 300)
