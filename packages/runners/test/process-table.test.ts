import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from '@jest/globals'
import { hasMarker, listPids, readProcess } from '../src/host/process-table.ts'
import { MARKER_VARIABLE } from '../src/marker.ts'

test('A process that is in the middle of an exec is never taken for one without the marker', async () => {
  // The kernel shows the arguments before the environment: the more variables, the longer the time between.
  const variables = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`V${index}`, 'value']))
  const env = { ...variables, PATH: process.env['PATH'], [MARKER_VARIABLE]: 'mark#' }
  const script = 'i=0; while [ $i -lt 500 ]; do sleep 60 & i=$((i + 1)); done; echo done; wait'
  const shell = spawn('/bin/sh', ['-c', script], { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  const group = shell.pid ?? 0
  let started = false
  shell.stdout.once('data', () => (started = true))
  const unmarked: number[] = []
  while (!started) {
    for (const pid of listPids().filter((one) => one > group)) {
      const info = readProcess(pid)
      if (info?.group === group && hasMarker(info, 'mark') === false) unmarked.push(pid)
    }
    await new Promise(setImmediate)
  }
  const ended = once(shell, 'exit')
  process.kill(-group, 'SIGKILL')
  await ended
  expect(unmarked).toEqual([])
})
