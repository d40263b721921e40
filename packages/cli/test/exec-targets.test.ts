import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { runCaptured } from './captured-terminal.ts'
import { Program, until } from './cluster/program.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-exec-'))
  write('greet.yaml', GREET)
})
afterEach(() => rmSync(folder, { recursive: true }))

const GREET = `
kind: module
name: greet
params: [{name: word, default: hello}]
steps:
  - name: say
    type: bash
    command: echo "{{word}} {{Target}} {{TargetSpace}}" | tee {{Output}}/said.txt
  - name: judge
    type: bash
    command: test "{{Target}}" != bad.test
`
const ALONE = `
kind: module
name: alone
steps: [{name: say, type: bash, command: 'echo "<{{TargetSpace}}>"'}]
`

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const read = (...path: string[]): string => readFileSync(join(folder, ...path), 'utf8')

const run = (args: readonly string[], piped?: string) =>
  runCaptured(args, { SCANFARM_DATA_DIR: folder, PATH: '/usr/bin:/bin' }, piped)

const exec = (...args: string[]) =>
  run(['exec', join(folder, 'greet.yaml'), '-W', join(folder, 'w'), ...args])

describe('targets of exec', () => {
  test('exec gives each target its own workspace: a folder, and the template variable TargetSpace', async () => {
    const { code, out } = await exec('-t', 'a.test', '-t', 'b.test', '-t', 'a.test')
    expect(code).toBe(0)
    expect(read('w/a.test/said.txt')).toBe('hello a.test a.test\n')
    expect(read('w/b.test/said.txt')).toBe('hello b.test b.test\n')
    expect(out).toMatch(/^\[a\.test\] hello a\.test/m)
    expect(out).toMatch(/completed +clean +\S+ +greet +b\.test +\S+w\/b\.test[^]*2 runs: 2 completed\n$/)
  })

  test('exec ends with exit code 1 when the run of one target fails, and still runs the others', async () => {
    const { code, out, err } = await exec('-t', 'bad.test', '-t', 'b.test', '-c', '2')
    expect(code).toBe(1)
    expect(err).toContain('1 of 2 runs did not complete')
    expect(out).toMatch(/failed +partial +\S+ +greet +bad\.test .*command exited with code 1/)
    expect(out).toMatch(/completed +clean +\S+ +greet +b\.test/)
  })

  test('exec takes targets from a file too, and from standard input if none are named', async () => {
    const list = write('list.txt', '# ours\nb.test\r\n\nc.test\n')
    await exec('-t', 'a.test', '-T', list)
    expect(readdirSync(join(folder, 'w')).sort()).toEqual(['a.test', 'b.test', 'c.test'])
    const file = join(folder, 'greet.yaml')
    expect(await run(['exec', file, '-W', join(folder, 'in')], 'd.test\n')).toMatchObject({ code: 0 })
    expect(await run(['exec', file, '-W', join(folder, 'in'), '-T', '-'], 'e.test')).toMatchObject({
      code: 0,
    })
    expect(readdirSync(join(folder, 'in')).sort()).toEqual(['d.test', 'e.test'])
  })

  test.each([
    [['-T', '/nowhere.txt'], /\/nowhere\.txt cannot be read/],
    [['-T', tmpdir()], /cannot be read: it is a directory/],
    [['-T', '-'], /no standard input/],
    [[], /name a target: -t TARGET/],
    [['-t', 'a.test', '--empty-target'], /leave -t and -T out/],
    [['--empty-target'], /uses its target/],
    [['-t', 'a.test', '-S', '../up'], /workspace name/],
    [['-t', 'a.test', '-T', 'x', '-T', 'y'], /'-T, --target-file <file>' is given twice/],
    [['-t', 'a.test', '-p', 'word=a', '-p', 'word=b'], /word is given twice/],
    [['-t', 'a.test', '--timeout', 'soon'], /duration like 2h/],
    [['-t', 'a.test', '--heuristics-check', 'deep'], /none, basic, advanced/],
    [['-t', 'a.test', '-x', 'recon'], /-x recon: no such module; there are none/],
    [['-t', 'a.test', '--folder', 'x'], /cannot be used with/],
  ])('exec refuses %j with exit code 2 and runs nothing', async (args, message) => {
    const { code, out, err } = await exec(...args)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(message)
    expect(existsSync(join(folder, 'w'))).toBe(false)
  })

  test('exec names the line of an invalid target in a file', async () => {
    const { code, err } = await exec('-T', write('list.txt', 'a.test\nb;id\n'))
    expect(code).toBe(2)
    expect(err).toMatch(/list\.txt, line 2: .*;/)
  })

  test('exec runs a workflow that uses no target without one, and its workspace is its name', async () => {
    const file = write('alone.yaml', ALONE)
    for (const args of [[], ['--empty-target']]) {
      const { code, out } = await run(['exec', file, '-W', join(folder, 'w'), ...args], 'never.test')
      expect(code).toBe(0)
      expect(out).toContain('<alone>')
    }
    const preferred = write('preferred.yaml', `${GREET}preferences: {empty_target: true}\n`)
    expect(await run(['exec', preferred, '-W', join(folder, 'w')])).toMatchObject({ code: 0 })
  })
})

describe('a file as a target of exec', () => {
  const COUNT = `
kind: module
name: count
steps:
  - {name: lines, type: bash, command: 'wc -l < {{Target}}'}
  - {name: read, type: function, function: 'read_file("{{Target}}")'}
  - {name: kind, type: bash, command: 'echo {{TargetType}} {{TargetRootDomain}}'}
`

  test('exec replaces a file that is a target by its absolute path, which commands and functions can read', async () => {
    const list = write('my_list.txt', 'one\ntwo\n')
    const before = process.cwd()
    process.chdir(folder)
    try {
      const { code, out } = await run(['exec', write('count.yaml', COUNT), '-t', 'my_list.txt', '-W', 'w'])
      expect(code).toBe(0)
      expect(out).toMatch(/wc -l < \S*\/my_list\.txt\n2\n[^]*one\ntwo[^]*\nfile my-list-file\n/)
      expect(readdirSync('w')).toEqual([expect.stringMatching(/^my-list-file-[0-9a-f]{12}$/)])
    } finally {
      process.chdir(before)
    }
    const { code, out } = await run(['exec', join(folder, 'count.yaml'), '-t', list, '-W', join(folder, 'w')])
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('file my-list-file') })
  })

  test('exec takes a target for a domain, not for a file with the same name', async () => {
    mkdirSync(join(folder, 'here'))
    const before = process.cwd()
    process.chdir(join(folder, 'here'))
    try {
      writeFileSync('example.com', 'x\n')
      const domain = await exec('-t', 'example.com')
      expect(domain.out).toContain('hello example.com example.com')
      expect(domain.err).toContain('write ./example.com for the file')
      expect((await exec('-t', './example.com')).out).toMatch(/hello \S+\/here\/example\.com example-file-/)
    } finally {
      process.chdir(before)
    }
  })
})

describe('options of exec', () => {
  test('-S names the workspace; --folder is the folder of a single target, and the parent of the folders of several', async () => {
    await exec('-t', 'a.test', '-S', 'mine')
    expect(read('w/mine/said.txt')).toBe('hello a.test mine\n')
    const file = join(folder, 'greet.yaml')
    await run(['exec', file, '-t', 'a.test', '--folder', join(folder, 'one')])
    expect(read('one/said.txt')).toBe('hello a.test a.test\n')
    await run(['exec', file, '-t', 'a.test', '-t', 'b.test', '--folder', join(folder, 'two')])
    expect(readdirSync(join(folder, 'two')).sort()).toEqual(['a.test', 'b.test'])
  })

  test('-P reads params from YAML or JSON, and -p overrides them', async () => {
    const yaml = write('p.yaml', 'word: bye\nother: 3\n')
    expect((await exec('-t', 'a.test', '-P', yaml)).out).toContain('bye a.test')
    const json = write('p.json', '{"word": true}')
    expect((await exec('-t', 'a.test', '-P', json)).out).toContain('true a.test')
    expect((await exec('-t', 'a.test', '-P', yaml, '-p', 'word=hi')).out).toContain('hi a.test')
    const lists = await exec('-t', 'a.test', '-P', write('bad.yaml', 'word: [a]\n'))
    expect(lists).toMatchObject({ code: 2, err: expect.stringContaining('the param word must be a text') })
    const broken = await exec('-t', 'a.test', '-P', write('bad.yaml', '- a\n'))
    expect(broken).toMatchObject({ code: 2, err: expect.stringContaining('must hold params') })
  })

  test('exec runs several -m one after the other on each target, also after one that failed', async () => {
    const alone = write('alone.yaml', ALONE)
    const modules = ['-m', join(folder, 'greet.yaml'), '-m', alone]
    const { code, out } = await run(['exec', ...modules, '-t', 'bad.test', '-W', join(folder, 'w')])
    expect(code).toBe(1)
    expect(out).toMatch(/\[bad\.test greet\] < judge failed[^]*\[bad\.test alone\] <bad\.test>/)
    expect(out).toContain('2 runs: 1 completed, 1 failed')
  })

  test('-x and -X skip modules of a flow, and -x refuses unknown names', async () => {
    const module = (name: string) =>
      `  - {name: ${name}, steps: [{name: s-${name}, type: bash, command: 'true'}]}\n`
    const flow = write(
      'flow.yaml',
      `kind: flow\nname: f\nmodules:\n${['probe', 'deep-scan', 'report'].map(module).join('')}`,
    )
    const args = ['-f', flow, '-t', 'a.test', '-W', join(folder, 'w')]
    const { out } = await run(['exec', ...args, '-x', 'report', '-X', 'scan'])
    expect(out).toMatch(/< s-probe completed/)
    expect(out).toMatch(/< s-deep-scan skipped/)
    expect(out).toMatch(/< s-report skipped/)
    const slip = await run(['exec', ...args, '-x', 'reprt'])
    expect(slip).toMatchObject({
      code: 2,
      err: expect.stringContaining('there are probe, deep-scan, report'),
    })
  })

  test('--dry-run creates no folders', async () => {
    const { code, out } = await exec('-t', 'a.test', '-t', 'b.test', '--dry-run')
    expect(code).toBe(0)
    expect(out).toContain('[b.test] > say: echo "hello b.test b.test"')
    expect(existsSync(join(folder, 'w'))).toBe(false)
  })

  test('--timeout fails a run that takes longer', async () => {
    const slow = write(
      'slow.yaml',
      'kind: module\nname: slow\nsteps: [{name: s, type: bash, command: sleep 600}]\n',
    )
    const { code, err } = await run(['exec', slow, '-W', join(folder, 'w'), '--timeout', '300ms'])
    expect(code).toBe(1)
    expect(err).toContain('the run timed out')
  })

  test('-B, --threads-hold, --heuristics-check and --skip-validation take effect in the run', async () => {
    const file = write(
      'tuned.yaml',
      `kind: module
name: tuned
dependencies: {target_types: [cidr]}
steps: [{name: s, type: bash, command: 'echo "<{{threads}}/{{HeuristicsCheck}}/{{TargetType}}>"'}]
`,
    )
    const args = ['exec', file, '-t', 'a.test', '-W', join(folder, 'w')]
    expect(await run(args)).toMatchObject({ code: 1, err: expect.stringContaining('target type mismatch') })
    const free = [...args, '--skip-validation']
    expect((await run([...free, '-B', 'aggressive'])).out).toContain('<40/basic/domain>')
    const held = ['-B', 'gently', '--threads-hold', '7', '--heuristics-check', 'none']
    expect((await run([...free, ...held])).out).toContain('<7/none/>')
  })
})

describe('results of several runs of exec', () => {
  test('--json prints one document with all runs and their counts', async () => {
    const { code, out } = await exec('-t', 'a.test', '-t', 'bad.test', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      runs: [
        { target: 'a.test', workspace: 'a.test', status: 'completed', steps: [{}, {}] },
        { target: 'bad.test', workspace: 'bad.test', status: 'failed' },
      ],
      total_runs: 2,
      completed: 1,
      failed: 1,
      cancelled: 0,
    })
  })

  test('-o json names the run in every line and ends with the counts', async () => {
    const { out } = await exec('-t', 'a.test', '-t', 'b.test', '-o', 'json')
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { what: string; target?: string })
    expect(lines.at(-1)).toMatchObject({ what: 'summary', total_runs: 2, completed: 2 })
    expect(lines.slice(0, -1).every(({ target }) => target === 'a.test' || target === 'b.test')).toBe(true)
  })

  test('SIGINT cancels the running runs, starts no others and leaves no processes', async () => {
    const slow = write(
      'slow.yaml',
      `kind: module
name: slow
steps: [{name: s, type: bash, command: 'echo $$ > {{Output}}/pid; echo {{Target}}; exec sleep 600'}]
`,
    )
    const targets = ['a.test', 'b.test', 'c.test'].flatMap((target) => ['-t', target])
    const args = ['exec', slow, ...targets, '-c', '2', '-W', join(folder, 'w')]
    await using program = new Program('exec', args, { folder, env: { SCANFARM_DATA_DIR: folder } })
    const pid = (target: string) =>
      Number(existsSync(join(folder, `w/${target}/pid`)) && read(`w/${target}/pid`))
    await until('two commands run', () => pid('a.test') > 0 && pid('b.test') > 0)
    const pids = [pid('a.test'), pid('b.test')]
    program.signal('SIGINT')
    expect(await program.ended).toEqual({ code: 1, signal: null })
    expect(read('exec.log')).toContain('3 runs: 3 cancelled')
    expect(pids.filter((one) => existsSync(`/proc/${one}`))).toEqual([])
    expect(existsSync(join(folder, 'w/c.test'))).toBe(false)
  })
})

describe('a reader of the output that exits', () => {
  const piped = (args: readonly string[]) =>
    new Promise<{ code: number | null; err: string }>((resolve, reject) => {
      const main = join(import.meta.dirname, '../src/main.ts')
      const { PATH, NODE_COMPILE_CACHE } = process.env
      const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...args], {
        env: { PATH, NODE_COMPILE_CACHE, SCANFARM_DATA_DIR: folder },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let err = ''
      child.stderr.on('data', (chunk: Buffer) => (err += String(chunk)))
      child.stdout.once('data', () => child.stdout.destroy())
      child.once('error', reject).once('close', (code) => resolve({ code, err }))
    })

  test('exec stops its commands and ends without a stack when the reader of its output exits', async () => {
    const file = write(
      'talk.yaml',
      `kind: module
name: talk
steps:
  - {name: talk, type: bash, command: 'while echo x; do sleep 0.05; done'}
  - {name: after, type: bash, command: 'touch {{Output}}/reached'}
`,
    )
    const { code, err } = await piped(['exec', file, '-t', 'a.test', '--folder', join(folder, 'out')])
    expect(code).toBe(141)
    expect(err).not.toMatch(/EPIPE|node:/)
    expect(existsSync(join(folder, 'out', 'reached'))).toBe(false)
  })
})
