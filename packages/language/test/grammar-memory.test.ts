import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

/** Optimizing the grammar begins after some thousand parses. */
const PARSES = 10_000
/** Of a process that has only the grammar: 70 MiB without optimizing it, over 500 MiB with it. */
const MOST_KIB = 200 * 1024

const PROGRAM = `
import { readFileSync } from 'node:fs'
const { parseShell } = await import(process.argv[1])
for (let n = 0; n < ${PARSES}; n += 1) {
  const command = 'nmap -p {{ports}} "{{Target}}" | tee out.txt && for i in $(cat x); do echo "$i"; done'
  if (parseShell(command) === undefined) throw new Error('not parsed')
  // V8 optimizes in other threads.
  if (n % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve))
}
// Not \`maxRSS\`: Linux counts the memory of the process that started this one in it.
console.log(/^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1])
`

test('Parsing many commands takes little memory, because V8 does not optimize the grammar', () => {
  const grammar = fileURLToPath(new URL('../src/shell/grammar.ts', import.meta.url))
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', PROGRAM, grammar]
  const most = Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(MOST_KIB)
})
