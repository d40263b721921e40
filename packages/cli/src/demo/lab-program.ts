// The services to scan, some with deliberate mistakes, on loopback or on the address after `--host`. Prints one JSON line
// with the targets and the expected findings of each, then serves until its standard input closes or it is stopped.
import { parseArgs } from 'node:util'
import { startLab } from './lab.ts'

const { host, detached } = parseArgs({
  options: { host: { type: 'string' }, detached: { type: 'boolean' } },
}).values
const lab = await startLab(host)
console.log(JSON.stringify(lab.targets))
const stop = () => process.exit(0)
process.on('SIGTERM', stop).on('SIGINT', stop)
if (!detached) process.stdin.on('end', stop).resume()
