// Runs a small command with a script of the new bundle and stores the compiled functions: warm.ts BUNDLE NAME
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scriptOf, type CacheName } from '../../packages/cli/src/commands/client.ts'
import { cacheOf, readScript } from './run-script.ts'

const STEPS = `[{ name: one, type: bash, command: 'echo {{target}}' },
  { name: two, type: function, function: 'log_info("{{target}}")' }]`
const [, , bundle = ''] = process.argv
const name = process.argv[3] as CacheName
const folder = mkdtempSync(join(tmpdir(), 'scanfarm-bundle-'))
const server = createServer((_, response) => {
  response.setHeader('content-type', 'application/json').end('{"data":[{"status":"completed"}]}')
})
await once(server.listen(0, '127.0.0.1'), 'listening')
const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
const isProgram = name === 'worker' || name === 'server'
let isReached = false

// A worker or a server has loaded its code when it looks for its database, and needs none to store it.
server.on('clientError', (_, socket) => {
  socket.destroy()
  isReached = true
  process.exit()
})

const WORDS: Readonly<Record<CacheName, readonly string[]>> = {
  exec: ['exec', join(folder, 'warm.yaml'), '-t', 'example.com', '-W', folder],
  client: ['runs', 'list', '--url', `http://${address}`],
  main: ['workflow', 'lint', join(folder, 'warm.yaml')],
  worker: ['worker'],
  server: ['server', '--master'],
}

writeFileSync(join(folder, 'warm.yaml'), `kind: module\nname: warm\nsteps: ${STEPS}\n`)
process.chdir(folder)
process.argv.splice(2, Infinity, ...WORDS[name])
if (isProgram)
  Object.assign(process.env, {
    DATABASE_URL: `postgres://none@${address}/none`,
    REDIS_URL: `redis://${address}`,
    SCANFARM_DATA_DIR: folder,
  })
const { script, run } = readScript(bundle, scriptOf(WORDS[name][0]).script)
process.once('exit', (code) => {
  rmSync(folder, { recursive: true, force: true })
  if (isProgram ? isReached : code === 0) writeFileSync(cacheOf(bundle, name), script.createCachedData())
})
await run()
server.close()
