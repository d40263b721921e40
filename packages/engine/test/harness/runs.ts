import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from '@jest/globals'
import { Engine } from '../../src/engine.ts'
import { execute } from '../../src/execute.ts'
import { openLibrary } from '../../src/library/open-library.ts'
import { resolveWorkflow } from '@scanfarm/language'
import type { ExecuteInput, ExecuteResult } from '../../src/input.ts'
import { hostRunner } from './host-runner.ts'
import { MemoryRecorder } from './recorder.ts'

export interface Ran extends ExecuteResult {
  readonly recorder: MemoryRecorder
  readonly output: string
}

/** Runs workflow texts in a folder of their own; the first file is the one that is run. */
export const useRuns = () => {
  let folder = ''
  let count = 0
  const engine = new Engine()
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'scanfarm-workflow-'))
  })
  afterAll(async () => {
    await engine[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    engine,
    folder: () => folder,
    async run(files: string | Record<string, string>, more: Partial<ExecuteInput> = {}): Promise<Ran> {
      const library = await openLibrary([])
      const texts = typeof files === 'string' ? { 'main.yaml': files } : files
      for (const [path, text] of Object.entries(texts)) await library.put(path, text)
      const [first = ''] = Object.keys(texts)
      const recorder = new MemoryRecorder()
      const output = mkdtempSync(join(folder, `run-${++count}-`))
      const result = await execute({
        workflow: resolveWorkflow(library, { name: first }),
        target: 'example.com',
        params: {},
        workspace: 'example.com',
        runUuid: '6f0e3a52-0d7c-4b43-9b43-1f2f6f0f2f11',
        runId: 7,
        attempt: 1,
        folders: { output, temp: join(output, 'tmp') },
        env: { PATH: process.env['PATH'] ?? '', HOME: output },
        openRunner: async () => hostRunner(),
        recorder,
        signal: new AbortController().signal,
        engine,
        ...more,
      })
      return { ...result, recorder, output }
    },
  }
}
