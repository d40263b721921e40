import { existsSync } from 'node:fs'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { call, farm, watchFarm } from '../farm/attacked-farm.ts'
import { runToEnd, stepNamed, uploadModule, type EndedRun } from '../farm/runs.ts'

const CONTINUE = [{ action: 'continue' }]
const SECRETS = [
  farm.workerSecret,
  farm.tokens.initial,
  farm.databaseUrl,
  farm.redisUrl,
  ...[new URL(farm.databaseUrl).password].filter((password) => password !== ''),
]

const logOf = async (run: EndedRun): Promise<string> => {
  const { json } = await call('get', `/runs/${run.id}/artifacts`)
  const found = (json?.['data'] ?? []) as { id: string; name: string }[]
  const bodies = found.map(({ id }) => call('get', `/runs/${run.id}/artifacts/${id}/content`))
  return (await Promise.all(bodies)).map(({ text }) => text).join('\n')
}

const step = (name: string, command: string) => ({ name, type: 'bash', command, on_error: CONTINUE })

const RUNNERS = {
  host: {},
  docker: { runner: 'docker', runner_config: { image: farm.image } },
} as const

describe.each(['host', 'docker'] as const)('a step on the runner %s', (runner) => {
  let run: EndedRun

  beforeAll(async () => {
    const module = await uploadModule(`curious-${runner}`, {
      ...RUNNERS[runner],
      steps: [
        step(
          'environments',
          `for f in /proc/[0-9]*/environ; do tr '\\0' '\\n' < "$f"; done 2>/dev/null; env; true`,
        ),
        step(
          'command lines',
          `for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < "$f"; echo; done 2>/dev/null; true`,
        ),
        step(
          'parents',
          'p=$$; while [ "${p:-0}" -gt 1 ]; do cat /proc/$p/environ /proc/$p/maps 2>/dev/null | tr "\\0" "\\n"; p=$(awk \'/^PPid/ {print $2}\' /proc/$p/status); done; true',
        ),
        step('descriptors', 'ls -l /proc/[0-9]*/fd 2>/dev/null | grep -v "/dev/\\|pipe:\\|socket:" ; true'),
        step(
          'tokens',
          `cat ${farm.folder}/*/admin-token ${farm.folder}/*/*.yaml ${farm.folder}/*.log 2>/dev/null; true`,
        ),
        step(
          'data folders',
          `ls ${farm.folder}/master-1 ${farm.folder}/worker-1 ${farm.folder}/worker-2 2>/dev/null; true`,
        ),
        step('shadow', 'cat /etc/shadow 2>/dev/null | grep -v "^$" | head -3; true'),
        step(
          'docker',
          'ls -l /var/run/docker.sock >/dev/null 2>&1 && echo | timeout 2 nc -U /var/run/docker.sock && echo REACHED; true',
        ),
        step('who', 'id -u'),
        step('kill', 'kill -9 $PPID 2>/dev/null; kill -9 1 2>/dev/null; echo alive'),
        step('kill all', 'kill -9 -1'),
      ],
    })
    run = await runToEnd({ module })
  })

  test('A step finds no secret of the worker or the master', async () => {
    const output = JSON.stringify(run) + (await logOf(run))
    for (const secret of SECRETS) expect(output).not.toContain(secret)
  })

  test('A step cannot read the data folders', () => {
    expect(stepNamed(run, 'data folders').output).toBe('')
    expect(stepNamed(run, 'tokens').output).toBe('')
  })

  test('A step does not have the rights of the worker', () => {
    if (runner === 'host') {
      expect(stepNamed(run, 'who').output.trim()).toMatch(/^[1-9]\d*$/)
      expect(stepNamed(run, 'shadow').output).toBe('')
    }
    expect(stepNamed(run, 'docker').output).not.toContain('REACHED')
  })

  test('A step kills neither the worker nor other runs', async () => {
    for (const pid of [farm.master, ...farm.workers]) expect(existsSync(`/proc/${pid}`)).toBe(true)
    const module = await uploadModule('after-the-kill', { steps: [step('there', 'echo there')] })
    const after = await Promise.all(Array.from({ length: 4 }, () => runToEnd({ module })))
    expect(after.map(({ status }) => status)).toEqual(Array(4).fill('completed'))
  })
})

watchFarm()
