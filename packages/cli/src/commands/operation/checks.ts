import { printTable } from '../../client/table.ts'
import type { Terminal } from '../../terminal.ts'

export interface Check {
  readonly part: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
}

export const printChecks = (terminal: Terminal, checks: readonly Check[]): void =>
  printTable(
    terminal,
    [
      { title: 'PART', value: ({ part }) => part },
      { title: 'STATUS', value: ({ status }) => status },
      { title: '', value: ({ message }) => message },
    ],
    checks,
  )

export const failedParts = (checks: readonly Check[]): string[] =>
  checks.filter(({ status }) => status === 'failed').map(({ part }) => part)
