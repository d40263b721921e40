import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { checkParams } from '../../src/flow/params.ts'
import { localSpace, targetType, targetVariables } from '@scanfarm/functions'
import { openLibrary } from '../../src/library/open-library.ts'
import { resolveWorkflow } from '@scanfarm/language'
import { useRuns } from '../harness/runs.ts'

const { run, folder } = useRuns()

const printing = (names: readonly string[], more = ''): string =>
  `kind: module
name: m
${more}
steps: [{name: a, type: bash, command: "printf %s ${names.map((name) => `'<{{${name}}}>'`).join(' ')}"}]
`

const ports = (addresses: Readonly<Record<string, string>>, asked: string[] = []) => ({
  resolve: async (host: string) => {
    asked.push(host)
    const found = addresses[host] ?? addresses[host.replace(/^[^.]+/, '*')]
    return found === undefined ? [] : [found]
  },
})

describe('variables of a target', () => {
  test('variables of a URL are parsed from its text', () => {
    expect(targetVariables('https://u.example.com:443/a/b.php?x=1')).toMatchObject({
      TargetType: 'url',
      TargetBaseURL: 'https://u.example.com:443/a/b.php?x=1',
      TargetRootURL: 'https://u.example.com',
      TargetHostname: 'u.example.com:443',
      TargetPath: '/a',
      TargetFileExt: 'b.php',
    })
    expect(targetVariables('http://example.com')).toMatchObject({
      TargetPath: '/',
      TargetHostname: 'example.com',
    })
    expect(targetVariables('https://gitlab.com/o/group/r/-/tree/main')).toMatchObject({
      TargetRepoSlug: 'o__group__r',
    })
    expect(targetVariables('example.com/login')).toMatchObject({
      TargetType: 'url',
      TargetBaseURL: 'https://example.com/login',
      TargetPort: '443',
    })
  })

  test('variables of a file or folder contain its name, and its workspace differs from others with that name', () => {
    expect(targetVariables('/srv/my_list.v2.txt', 'file')).toEqual({
      TargetType: 'file',
      TargetRootDomain: 'my-list.v2-file',
    })
    expect(targetVariables('/out/0123456789abcdef-my_list.txt', 'file')).toMatchObject({
      TargetRootDomain: 'my-list-file',
    })
    expect(targetVariables('/srv/src', 'folder')).toEqual({
      TargetType: 'folder',
      TargetRootDomain: 'src-folder',
    })
    expect(localSpace('/a/list.txt', 'file')).toMatch(/^list-file-[0-9a-f]{12}$/)
    expect(localSpace('/a/list.txt', 'file')).not.toBe(localSpace('/b/list.txt', 'file'))
    expect(localSpace(`/a/${'x'.repeat(200)}-${'y'.repeat(109)}.txt`, 'file')).toMatch(
      /^y{109}-file-[0-9a-f]{12}$/,
    )
  })

  test.each(['/etc/passwd', 'uploads/0123456789abcdef-list.txt', 'owner/repository', 'a.txt/b'])(
    '%s is neither a file nor a URL by default',
    (text) => expect(targetType(text)).toBe('unknown'),
  )

  test('variables of a target are undefined without a target', () => expect(targetVariables('')).toEqual({}))
})

describe('a run on a file', () => {
  test('commands and functions of a run can read its target file', async () => {
    const list = join(folder(), 'list.txt')
    writeFileSync(list, 'a\nb\n')
    const { recorder, status } = await run(
      `kind: module
name: m
dependencies: {target_types: [file]}
steps:
  - {name: count, type: bash, command: 'wc -l < {{Target}}'}
  - {name: read, type: function, function: 'read_file("{{Target}}")'}
`,
      { target: list, localTarget: 'file', paths: [{ path: list, write: false }] },
    )
    expect(status).toBe('completed')
    expect(recorder.byName('count').output.trim()).toBe('2')
    expect(recorder.byName('read').output).toContain('a\nb')
  })
})

describe('heuristics_check', () => {
  const NAMES = ['Target', 'TargetType', 'TargetRootDomain', 'HeuristicsCheck']

  test('heuristics_check none sets only the target itself, from a param or from the workflow', async () => {
    const asked = await run(printing(NAMES), { params: { heuristics_check: 'none' } })
    expect(asked.recorder.byName('a').output).toBe('<example.com><><><none>')
    const preferred = await run(printing(NAMES, 'preferences: {heuristics_check: none}'))
    expect(preferred.recorder.byName('a').output).toBe('<example.com><><><none>')
    const back = await run(printing(NAMES, 'preferences: {heuristics_check: none}'), {
      params: { heuristics_check: 'basic' },
    })
    expect(back.recorder.byName('a').output).toBe('<example.com><domain><example.com><basic>')
  })

  test('an unknown heuristics_check is refused', async () => {
    const library = await openLibrary([])
    await library.put('m', printing(NAMES))
    expect(checkParams(resolveWorkflow(library, { name: 'm' }), { heuristics_check: 'deep' })).toEqual([
      { path: '/params/heuristics_check', message: expect.stringContaining('none, basic, advanced') },
    ])
  })

  test('heuristics_check basic detects wildcard domains, only if the workflow uses the result', async () => {
    const wild = async (addresses: Record<string, string>, target = 'example.com') =>
      (await run(printing(['TargetIsWildcard']), { target, ports: ports(addresses) })).recorder.byName('a')
        .output
    expect(await wild({ '*.example.com': '192.0.2.1' })).toBe('<true>')
    expect(await wild({ 'api.example.com': '192.0.2.1', 'app.example.com': '192.0.2.2' })).toBe('<false>')
    expect(await wild({})).toBe('<false>')
    expect(await wild({}, '*.example.com')).toBe('<true>')
    const asked: string[] = []
    await run(printing(['Target']), { ports: ports({}, asked) })
    expect(asked).toEqual([])
  })

  test('heuristics_check advanced resolves a domain, and leaves unknown values empty', async () => {
    const names = ['TargetResolvedIP']
    const params = { heuristics_check: 'advanced' }
    const found = await run(printing(names), { params, ports: ports({ 'example.com': '192.0.2.9' }) })
    expect(found.recorder.byName('a').output).toBe('<192.0.2.9>')
    const basic = await run(printing(names), { ports: ports({ 'example.com': '192.0.2.9' }) })
    expect(basic.recorder.byName('a').output).toBe('<>')
    const lost = await run(printing(names), { target: 'no-such-host.invalid', params, ports: ports({}) })
    expect(lost.recorder.byName('a').output).toBe('<>')
  })

  test('heuristics_check advanced requests status and length from a web server, following redirects', async () => {
    const server = createServer((request, answer) => {
      if (request.url === '/from') return void answer.writeHead(302, { location: '/to/page' }).end()
      answer.writeHead(418, { 'content-length': 12 }).end('0123456789ab')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const names = ['TargetStatusCode', 'TargetContentLength', 'TargetPath']
    const params = { heuristics_check: 'advanced' }
    try {
      const target = `http://127.0.0.1:${port}/from`
      const { recorder } = await run(printing(names), { target, params })
      expect(recorder.byName('a').output).toBe('<418><12></>')
    } finally {
      await new Promise((resolve) => server.close(resolve))
    }
    const gone = await run(printing(names), { target: `http://127.0.0.1:${port}/x/y`, params })
    expect(gone.recorder.byName('a').output).toBe('<><></x>')
  })
})

describe('params that control a run', () => {
  test.each([
    [{}, '<10><5>'],
    [{ tactic: 'aggressive' }, '<40><20>'],
    [{ tactic: 'gently' }, '<5><2>'],
    [{ tactic: 'gently', threads_hold: '3' }, '<3><1>'],
    [{ threads_hold: '0' }, '<10><5>'],
  ])('%j sets the threads to %s', async (params, threads) => {
    const { recorder } = await run(printing(['threads', 'baseThreads']), { params })
    expect(recorder.byName('a').output).toBe(threads)
  })

  test('exclude_modules and fuzzy_exclude_modules exclude modules of a flow', async () => {
    const step = (name: string) => `{name: ${name}, type: bash, command: 'true'}`
    const modules = ['probe', 'deep-scan', 'scan-web', 'report'].map(
      (name) => `  - {name: ${name}, steps: [${step(`s-${name}`)}]}`,
    )
    const { recorder } = await run(`kind: flow\nname: f\nmodules:\n${modules.join('\n')}\n`, {
      params: { exclude_modules: 'report, none', fuzzy_exclude_modules: 'scan' },
    })
    expect(recorder.steps.map(({ name, status }) => `${name} ${status}`).sort()).toEqual([
      's-deep-scan skipped',
      's-probe completed',
      's-report skipped',
      's-scan-web skipped',
    ])
  })
})
