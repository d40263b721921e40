import { relative } from 'node:path'
import { describeWaits } from '@scanfarm/testing'
import type { Circus } from '@jest/types'
import type { FromProcess } from './test-process.ts'

const EXCEEDED = 'Exceeded timeout'

const nameOf = (test: Circus.TestEntry | Circus.DescribeBlock | undefined): string =>
  test === undefined || test.name === 'ROOT_DESCRIBE_BLOCK'
    ? ''
    : `${nameOf(test.parent)} ${test.name}`.trimStart()

const openResources = (): string => {
  const counts = Object.groupBy(process.getActiveResourcesInfo(), (name) => name)
  return Object.entries(counts)
    .map(([name, all]) => `${all?.length} ${name}`)
    .join(', ')
}

/** What this process waits for at this moment, one line each. */
export const describeWaiting = (): string[] => [...describeWaits(), `open: ${openResources()}`]

/** Sends the name and time limit of each test and hook that begins. Prints what it waits for when it exceeds the limit. */
export const watchTests =
  (path: string, send: (message: FromProcess) => void) =>
  (event: Circus.Event, { testTimeout }: Circus.State): void => {
    if (event.name === 'hook_start') {
      const { type, parent, timeout } = event.hook
      send({ kind: 'began', what: `${type} ${nameOf(parent)}`.trimEnd(), limitMs: timeout ?? testTimeout })
    }
    if (event.name === 'test_fn_start')
      send({ kind: 'began', what: nameOf(event.test), limitMs: event.test.timeout ?? testTimeout })
    if (event.name !== 'test_fn_failure' && event.name !== 'hook_failure') return
    if (!String(event.error).includes(EXCEEDED)) return
    const name =
      event.name === 'hook_failure' ? `${event.hook.type} ${nameOf(event.test)}` : nameOf(event.test)
    const lines = [`${relative('.', path)}: ${name} exceeded its time limit`, ...describeWaiting()]
    process.stderr.write(`${lines.join('\n  ')}\n`)
  }
