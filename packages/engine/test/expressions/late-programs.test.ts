import { expect, test } from '@jest/globals'
import { Engine } from '../../src/engine.ts'
import { TriggerLanguage, type TriggerEvent } from '../../src/trigger/language.ts'
import { LatePrograms } from '../../src/trigger/late-programs.ts'

test('an expression that times out three times in a row is suspended for ten seconds', () => {
  let now = 0
  const late = new LatePrograms(() => now)
  const isRefused = (source: string): boolean => {
    try {
      late.refuse(source)
      return false
    } catch {
      return true
    }
  }
  for (const wasLate of [true, true, false, true, true]) late.tried('loops', wasLate)
  expect(isRefused('loops')).toBe(false)
  late.tried('loops', true)
  expect([isRefused('loops'), isRefused('another')]).toEqual([true, false])
  now = 10_000
  expect(isRefused('loops')).toBe(false)
  late.tried('loops', true)
  expect(isRefused('loops')).toBe(true)
  now = 20_000
  late.tried('loops', false)
  late.tried('loops', true)
  expect(isRefused('loops')).toBe(false)
})

test('a filter with an endless loop is soon refused immediately', async () => {
  await using engine = new Engine({ limits: { timeMs: 50 } })
  const language = new TriggerLanguage(engine)
  const event: TriggerEvent = {
    topic: 'custom.test',
    id: 'evt_1',
    name: '',
    source: 'api',
    data_type: 'custom',
    data: { size: 7 },
    workspace: '',
    run_uuid: '',
    workflow_name: '',
    timestamp: '2026-01-01T00:00:00Z',
  }
  const { signal } = new AbortController()
  const loop = 'while (true) {}'
  for (let time = 0; time < 3; time++)
    await expect(language.value(loop, event, signal)).rejects.toThrow('took longer than 0.05s')
  await expect(language.value(loop, event, signal)).rejects.toThrow('is suspended for 10s')
})
