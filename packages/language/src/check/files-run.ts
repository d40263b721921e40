import { SHELL_COMMANDS } from '../expression/calls.ts'
import type { Workflow } from '../model.ts'
import { filesRunBy } from '../shell/safety.ts'
import { TemplateError } from '../template/expression.ts'
import { parseTemplate } from '../template/parse.ts'
import { partsOf } from '../template/parts.ts'
import { authorTexts } from './texts.ts'
import type { Piece } from '../template/value.ts'

/** Time limit for analysing all commands of a workflow. Files of the remaining commands count as run. */
const MAX_MS = 1_000

const TEXT = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g

/** Command strings inside expressions. */
const commandsIn = (source: string): string[] =>
  [...SHELL_COMMANDS.keys()].some((name) => source.includes(name))
    ? [...source.matchAll(TEXT)].map(([, double, single, literal]) => double ?? single ?? literal ?? '')
    : []

/** The texts and holes of a command as pieces with unknown values. */
export const unknownPieces = (text: string): Piece[] =>
  partsOf(parseTemplate(text).nodes).map((part) =>
    typeof part === 'string'
      ? { text: part, origin: 'author' }
      : { text: ' ', origin: 'data', name: part.source.trim() },
  )

const filesOf = (text: string): string[] => {
  try {
    return filesRunBy(unknownPieces(text))
  } catch (error) {
    if (error instanceof TemplateError) return []
    throw error
  }
}

/** Files that commands of these workflows run, by the last part of their paths, `{{name}}` for values. */
export const filesRunIn = (workflows: readonly Workflow[]): Pick<ReadonlySet<string>, 'has'> => {
  const until = performance.now() + MAX_MS
  const found = new Set<string>()
  for (const workflow of workflows) {
    for (const { text, kind } of authorTexts(workflow)) {
      const commands = kind === 'shell' ? [text] : commandsIn(text)
      for (const command of commands) for (const file of filesOf(command)) found.add(file)
      if (performance.now() > until) return { has: () => true }
    }
  }
  return found
}
