// `npm run test:tools [-- ARGUMENTS OF JEST]`: runs the flow baseline with real scanners against real servers on loopback.
// --write also replaces the page of the documentation with what it found.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePrograms, PROGRAMS, type Program } from '../services/programs.ts'
import { runJest } from '../test/jest.ts'
import { LAB_PROGRAMS } from './lab.ts'

const root = join(import.meta.dirname, '../..')

const SCANNERS = 'nmap whatweb sslscan ffuf wapiti gobuster sqlmap wget curl'
  .split(' ')
  .map((name): Program => ({ name, debianPackage: name }))
const TESTSSL: Program = { name: 'testssl', debianPackage: 'testssl.sh' }

let passed = false
try {
  if (process.getuid?.() !== 0)
    throw new Error('the servers of the lab change their user, which requires root: run it as root')
  ensurePrograms([...SCANNERS, TESTSSL, ...LAB_PROGRAMS, PROGRAMS.bash])
  const args = process.argv.slice(2).filter((arg) => arg !== '--write')
  passed = await runJest(root, ['--config', 'scripts/tools/jest.config.js', ...args])
  if (passed && process.argv.includes('--write'))
    copyFileSync(
      join(root, '.cache/what-baseline-finds.md'),
      join(root, 'docs/reference/what-baseline-finds.md'),
    )
} catch (error) {
  console.error(
    `\nthe scanners cannot be tested: ${error instanceof Error ? error.message : String(error)}\n`,
  )
}
process.exitCode = passed ? 0 : 1
