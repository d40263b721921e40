// Runs a small workflow and a list with the new bundle and stores the compiled functions: warm.ts BUNDLE
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScriptName } from '../../packages/cli/src/commands/client.ts'
import { cacheOf, runScript } from './run-script.ts'

const STEPS = `[{ name: one, type: bash, command: 'echo {{target}}' },
  { name: two, type: function, function: 'log_info("{{target}}")' }]`
const bundle = process.argv[2] ?? ''
const folder = mkdtempSync(join(tmpdir(), 'scanfarm-bundle-'))

const warm = async (name: ScriptName, ...words: readonly string[]): Promise<void> => {
  process.argv.splice(2, Infinity, ...words)
  const script = await runScript(bundle, name)
  if (process.exitCode === 0) writeFileSync(cacheOf(bundle, name), script.createCachedData())
}

try {
  writeFileSync(join(folder, 'warm.yaml'), `kind: module\nname: warm\nsteps: ${STEPS}\n`)
  await warm('exec', 'exec', join(folder, 'warm.yaml'), '-t', 'example.com', '-W', folder)
  await using server = createServer((_, response) => {
    response.setHeader('content-type', 'application/json').end('{"data":[{"status":"completed"}]}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  await warm('client', 'runs', 'list', '--url', `http://127.0.0.1:${port}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
