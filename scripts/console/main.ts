// Builds the web console unless it is built; --sealed: for an image, which contains the build but not its sources.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { consoleBuilds, hashOfSources } from '../../packages/server/src/console/console-build.ts'

const LOW_PRIORITY = 5
const COMPRESSED = /\.(?:html|js|css|svg|json|webmanifest|txt)$/
/** A compressed form of a smaller file saves nothing. */
const MIN_BYTES = 512
const WEEK_MS = 7 * 24 * 3_600_000

const root = join(import.meta.dirname, '../..')
const builds = consoleBuilds(root)

const compress = async (folder: string): Promise<void> => {
  const paths = globSync('**/*', { cwd: folder }).filter((path) => COMPRESSED.test(path))
  await Promise.all(
    paths.map(async (path) => {
      const content = await readFile(join(folder, path))
      if (content.length < MIN_BYTES) return
      const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
      const forms = {
        br: promisify(brotliCompress)(content, { params }),
        gz: promisify(gzip)(content, { level: 9 }),
      }
      for (const [end, form] of Object.entries(forms)) {
        const compressed = await form
        if (compressed.length < content.length) writeFileSync(join(folder, `${path}.${end}`), compressed)
      }
    }),
  )
}

/** The error of a build that failed has been printed. */
const build = async (name: string): Promise<boolean> => {
  const vite = join(root, 'packages/web/node_modules/vite/bin/vite.js')
  if (!existsSync(vite)) {
    console.error(`scanfarm: ${vite} is missing: install the workspace with scripts/run -e 0`)
    return false
  }
  const fresh = join(builds, `${name}.${process.pid}`)
  const words = [vite, 'build', '--outDir', fresh, '--emptyOutDir', '--logLevel', 'warn']
  try {
    const { status } = spawnSync(process.execPath, words, {
      cwd: join(root, 'packages/web'),
      stdio: 'inherit',
    })
    if (status !== 0) return false
    await compress(fresh)
    // Another master may have built the same; its files are in use.
    if (!existsSync(join(builds, name))) renameSync(fresh, join(builds, name))
    return true
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

const removeOld = (name: string): void => {
  for (const old of readdirSync(builds))
    if (old !== name && Date.now() - statSync(join(builds, old)).mtimeMs > WEEK_MS)
      rmSync(join(builds, old), { recursive: true, force: true })
}

const name = await hashOfSources(root)
if (name === undefined) {
  console.error('scanfarm: this installation has no sources of the console (packages/web/index.html)')
  process.exitCode = 1
} else {
  setPriority(LOW_PRIORITY)
  mkdirSync(builds, { recursive: true })
  if (!existsSync(join(builds, name)) && !(await build(name))) process.exitCode = 1
  else {
    removeOld(name)
    if (process.argv.includes('--sealed')) writeFileSync(join(builds, 'current'), `${name}\n`)
  }
}
