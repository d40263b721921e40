import { relative } from 'node:path'
import { describeWaits } from '@scanfarm/testing'
import type { Circus } from '@jest/types'

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

/** Prints what a test or hook waits for when it exceeds its time limit. */
export const reportTimeouts =
  (path: string) =>
  (event: Circus.Event): void => {
    if (event.name !== 'test_fn_failure' && event.name !== 'hook_failure') return
    if (!String(event.error).includes(EXCEEDED)) return
    const name =
      event.name === 'hook_failure' ? `${event.hook.type} ${nameOf(event.test)}` : nameOf(event.test)
    const waits = describeWaits().map((wait) => `  ${wait}`)
    const lines = [`${relative('.', path)}: ${name} exceeded its time limit`, ...waits]
    process.stderr.write(`${[...lines, `  open: ${openResources()}`].join('\n')}\n`)
  }
