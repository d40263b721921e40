// Runs a small workflow with the new bundle and stores the compiled functions: warm.ts BUNDLE
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheOf, runScript } from './run-script.ts'

const STEPS = `[{ name: one, type: bash, command: 'echo {{target}}' },
  { name: two, type: function, function: 'log_info("{{target}}")' }]`
const bundle = process.argv[2] ?? ''
const folder = mkdtempSync(join(tmpdir(), 'scanfarm-bundle-'))
try {
  writeFileSync(join(folder, 'warm.yaml'), `kind: module\nname: warm\nsteps: ${STEPS}\n`)
  process.argv.splice(2, 1, 'exec', join(folder, 'warm.yaml'), '-t', 'example.com', '-W', folder)
  const script = await runScript(bundle)
  if (process.exitCode === 0) writeFileSync(cacheOf(bundle), script.createCachedData())
} finally {
  rmSync(folder, { recursive: true, force: true })
}
