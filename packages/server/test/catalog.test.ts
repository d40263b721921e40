import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { folderSource, openLibrary } from '@scanfarm/engine'
import { createCatalog } from '../src/catalog/catalog.ts'

test('a workflow whose file has just been stored is found by its name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scanfarm-catalog-'))
  try {
    const sources = [folderSource(folder)]
    const catalog = createCatalog(await openLibrary([], { sources, freshForMs: 3_600_000 }), sources)
    await expect(catalog.find('late')).rejects.toThrow('workflow not found')
    const store = (name: string): void =>
      writeFileSync(
        join(folder, `${name}.yaml`),
        `kind: module\nname: ${name}\nsteps: [{name: a, type: bash, command: 'true'}]\n`,
      )
    store('late')
    expect(await catalog.find('late')).toMatchObject({ name: 'late', kind: 'module' })
    store('later')
    expect((await catalog.pin('later', 'module')).resolved).toMatchObject({ root: { name: 'later' } })
    await expect(catalog.pin('latest', 'module')).rejects.toThrow('There is no module named "latest"')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
