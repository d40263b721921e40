import { targetProblem } from '@scanfarm/contracts'
import { CliError, EXIT } from '../exit.ts'
import { localTarget } from '../scan/local-target.ts'
import { refuseTargets, type ScanOptions } from '../scan/scan-options.ts'
import { readTargetLines } from '../scan/target-lines.ts'
import type { Terminal } from '../terminal.ts'
import type { ExecTarget } from './planned.ts'

const named = async (terminal: Terminal, text: string): Promise<ExecTarget> => {
  const local = await localTarget(terminal, text)
  const target = local?.path ?? text
  const problem = targetProblem(target)
  if (problem === undefined) return local === undefined ? { text } : { text: target, local: local.kind }
  throw new CliError(EXIT.usage, local === undefined ? problem : `${target}: ${problem}; rename or link it`)
}

/** The file of targets, or `-` if no targets are named and standard input is a pipe. */
const listFile = ({ in: input }: Terminal, { target, targetFile }: ScanOptions): string | undefined =>
  targetFile ?? (target === undefined && input?.piped === true ? '-' : undefined)

/** The targets of `-t`. Invalid ones are refused before anything else is checked. */
export const namedTargets = async (terminal: Terminal, options: ScanOptions): Promise<ExecTarget[]> => {
  refuseTargets(options)
  const found: ExecTarget[] = []
  for (const text of options.target ?? []) found.push(await named(terminal, text.trim()))
  return found
}

/** The targets, each once and in the given order, or one empty target if the workflow needs none. */
export const collectTargets = async (
  terminal: Terminal,
  options: ScanOptions,
  first: readonly ExecTarget[],
  needed: boolean,
): Promise<ExecTarget[]> => {
  const { target, targetFile, emptyTarget } = options
  if (emptyTarget === true || (!needed && target === undefined && targetFile === undefined)) {
    if (!needed) return [{ text: '' }]
    throw new CliError(EXIT.usage, 'the workflow uses its target and cannot run without one: name it with -t')
  }
  const file = listFile(terminal, options)
  const listed = file === undefined ? [] : await readTargetLines(terminal, file, options)
  const found = [...first, ...listed.map((text) => ({ text }))]
  const targets = [...new Map(found.map((one) => [one.text, one])).values()]
  if (targets.length > 0) return targets
  throw new CliError(
    EXIT.usage,
    file === undefined
      ? 'name a target: -t TARGET (repeatable), -T FILE, or a list on standard input'
      : `${file === '-' ? 'standard input' : file} names no target`,
  )
}
