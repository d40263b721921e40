// npm run test:each -- TIMES [PATH…]: runs each test file this many times, each time in a process of its own.
import { join } from 'node:path'
import { FILES_PER_PROCESS } from './test-process.ts'
import { runJest } from './jest.ts'

const root = join(import.meta.dirname, '../..')
const [times = '', ...paths] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(times)) throw new Error(`TIMES is a number such as 3, not "${times}"`)

process.env[FILES_PER_PROCESS] = '1'
const failed: number[] = []
for (let time = 1; time <= Number(times); time++) if (!(await runJest(root, paths))) failed.push(time)
console.log(
  failed.length === 0
    ? 'every file passed every time'
    : `files failed in ${failed.map((time) => `run ${time}`).join(', ')}`,
)
process.exitCode = failed.length === 0 ? 0 : 1
