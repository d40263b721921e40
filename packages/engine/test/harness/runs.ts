import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from '@jest/globals'
import { Engine } from '../../src/engine.ts'
import { execute } from '../../src/execute.ts'
import { openLibrary } from '../../src/library/open-library.ts'
import { resolveWorkflow, type ResolvedWorkflow } from '@scanfarm/language'
import type { ExecuteInput, ExecuteResult } from '../../src/input.ts'
import { hostRunner } from './host-runner.ts'
import { MemoryRecorder } from './recorder.ts'

/** The workflows that the farm ships. */
export const WORKFLOWS = join(import.meta.dirname, '../../../../workflows')

export interface Ran extends ExecuteResult {
  readonly recorder: MemoryRecorder
  readonly output: string
  /** The text of a file in the output folder. */
  readonly read: (file: string) => string
}

/**
 * Runs workflows in a folder of their own. With `programs`, scripts by name, commands find these and those of the system;
 * `$CALLS` is a file to which the scripts write their calls.
 */
export const useRuns = (programs?: Readonly<Record<string, string>>) => {
  let folder = ''
  let count = 0
  const engine = new Engine()
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'scanfarm-workflow-'))
    mkdirSync(join(folder, 'bin'))
    for (const [name, script] of Object.entries(programs ?? {}))
      writeFileSync(join(folder, 'bin', name), script, { mode: 0o755 })
  })
  afterAll(async () => {
    await engine[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  const runResolved = async (workflow: ResolvedWorkflow, more: Partial<ExecuteInput> = {}): Promise<Ran> => {
    const recorder = new MemoryRecorder()
    const output = mkdtempSync(join(folder, `run-${++count}-`))
    const calls = join(output, 'calls')
    if (programs !== undefined) writeFileSync(calls, '')
    const path = programs === undefined ? (process.env['PATH'] ?? '') : `${join(folder, 'bin')}:/usr/bin:/bin`
    const result = await execute({
      workflow,
      target: 'example.com',
      params: {},
      workspace: 'example.com',
      runUuid: '6f0e3a52-0d7c-4b43-9b43-1f2f6f0f2f11',
      runId: 7,
      attempt: 1,
      folders: { output, temp: join(output, 'tmp') },
      openRunner: async () => hostRunner(),
      recorder,
      signal: new AbortController().signal,
      engine,
      ...more,
      env: { PATH: path, HOME: output, ...(programs && { CALLS: calls }), ...more.env },
    })
    return { ...result, recorder, output, read: (file) => readFileSync(join(output, file), 'utf8') }
  }
  return {
    engine,
    folder: () => folder,
    runResolved,
    /** Of texts by path, the first one is run. */
    async run(files: string | Record<string, string>, more: Partial<ExecuteInput> = {}): Promise<Ran> {
      const library = await openLibrary([])
      const texts = typeof files === 'string' ? { 'main.yaml': files } : files
      for (const [path, text] of Object.entries(texts)) await library.put(path, text)
      const [first = ''] = Object.keys(texts)
      return await runResolved(resolveWorkflow(library, { name: first }), more)
    },
  }
}
