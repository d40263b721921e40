import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { targetProblem } from '@scanfarm/contracts'
import { fileErrorText } from '@scanfarm/platform'
import { CliError, EXIT } from '../exit.ts'
import type { Terminal } from '../terminal.ts'
import type { ScanOptions } from './scan-options.ts'

/** Maximum number of targets of one command. */
const MAX_TARGETS = 1_000_000

/** Standard input. Refuses a terminal, instead of waiting for input. */
export const standardInput = ({ in: input }: Terminal): NodeJS.ReadableStream => {
  if (input === undefined) throw new CliError(EXIT.usage, 'there is no standard input to read targets from')
  return input.stream()
}

const openList = async (file: string): Promise<NodeJS.ReadableStream> => {
  const handle = await open(file)
  if (!(await handle.stat()).isDirectory()) return handle.createReadStream()
  await handle.close()
  throw new Error('it is a directory')
}

/**
 * The targets of a file, or of standard input for `-`: one per line, without blank lines and comments (`#`). An invalid
 * line is refused, or left out and reported with `skipBad`.
 */
export const readTargetLines = async (
  terminal: Terminal,
  file: string,
  { skipBad = false }: Pick<ScanOptions, 'skipBad'>,
): Promise<string[]> => {
  const name = file === '-' ? 'standard input' : file
  const targets: string[] = []
  let number = 0
  try {
    const input = file === '-' ? standardInput(terminal) : await openList(file)
    for await (const line of createInterface({ input, crlfDelay: Infinity })) {
      number += 1
      const target = line.replace(/^\ufeff/, '').trim()
      if (target === '' || target.startsWith('#')) continue
      const problem = targetProblem(target)
      if (problem !== undefined) {
        const place = `${name}, line ${number}: ${problem}`
        if (!skipBad) throw new CliError(EXIT.usage, `${place}; --skip-bad leaves such lines out`)
        terminal.err.write(`scanfarm: ${place}; left out\n`)
        continue
      }
      if (targets.length === MAX_TARGETS)
        throw new CliError(EXIT.usage, `${name} has more than ${MAX_TARGETS} targets: split it`)
      targets.push(target)
    }
  } catch (error) {
    if (error instanceof CliError) throw error
    throw new CliError(EXIT.usage, `${name} cannot be read: ${fileErrorText(error)}`)
  }
  return targets
}
