import type { Command } from 'commander'
import type { Terminal } from '../terminal.ts'
import { artifactsCommand } from './runs/artifacts.ts'
import { cancelCommand, duplicateCommand, retryCommand, startCommand } from './runs/change-runs.ts'
import {
  listRunsCommand,
  listWorkersCommand,
  listWorkflowsCommand,
  showRunCommand,
  stepsCommand,
} from './lists.ts'
import { logsCommand } from './runs/logs.ts'
import { drainCommand, resumeCommand, showWorkerCommand } from './operation/change-workers.ts'

/** A noun with its verbs. Alone it lists, with the options of `list`. */
const group = (
  name: string,
  list: (terminal: Terminal, name?: string) => Command,
  ...verbs: readonly ((terminal: Terminal) => Command)[]
) => {
  return (terminal: Terminal): Command => {
    // Options after the name of a verb belong to it.
    const noun = list(terminal, name).enablePositionalOptions().addCommand(list(terminal))
    for (const verb of verbs) noun.addCommand(verb(terminal))
    return noun
  }
}

export const runsCommand = group(
  'runs',
  listRunsCommand,
  showRunCommand,
  cancelCommand,
  duplicateCommand,
  retryCommand,
  startCommand,
  stepsCommand,
  logsCommand,
  artifactsCommand,
)
export const workersCommand = group(
  'workers',
  listWorkersCommand,
  showWorkerCommand,
  drainCommand,
  resumeCommand,
)
export const workflowsCommand = group('workflows', listWorkflowsCommand)
