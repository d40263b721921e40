// npm run test:each -- TIMES [PATH…]: runs each test file alone, this many times, on one set of engines.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { neededEngines, openEngines } from '../services/engines.ts'
import { runJest } from './jest.ts'

const root = join(import.meta.dirname, '../..')
const [times = '', ...paths] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(times)) throw new Error(`TIMES is a number such as 3, not "${times}"`)

const list = ['node_modules/jest/bin/jest.js', '--listTests', '--json', ...paths]
const files = JSON.parse(execFileSync(process.execPath, list, { cwd: root, encoding: 'utf8' })) as string[]
await using engines = await openEngines(neededEngines(files))
Object.assign(process.env, engines.env)
const failed: string[] = []
for (const file of files)
  for (let time = 1; time <= Number(times); time++)
    if (!(await runJest(root, ['--runTestsByPath', file]))) failed.push(`${file}, time ${time}`)
console.log(failed.length === 0 ? 'every file passed every time' : `failed:\n${failed.join('\n')}`)
process.exitCode = failed.length === 0 ? 0 : 1
