import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { runCaptured } from './captured-terminal.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-cli-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCaptured(args, { SCANFARM_DATA_DIR: folder, ...env })

describe('usage', () => {
  test('--help ends with exit code 0 and lists the exit codes', async () => {
    const { code, out } = await run(['--help'])
    expect(code).toBe(0)
    expect(out).toMatch(/server .*\n[^]*Exit codes: 0 done; 1 failed/)
  })

  test.each([
    [['serve'], /unknown command 'serve'[^]*Did you mean server/],
    [['server', '--prot', '1'], /unknown option '--prot'[^]*Did you mean --port/],
    [
      ['schedules', 'delete', 'x'],
      /unknown command 'delete'\n\(Did you mean remove\?\)\n +see: scanfarm schedules --help/,
    ],
    [['runs', 'stop', 'x'], /unknown command 'stop'\n\(Did you mean cancel\?\)/],
    [['run', 'steps', '3'], /unknown command 'steps'\n\(Did you mean runs steps\?\)/],
    [['run', 'ls'], /unknown command 'ls'\n\(Did you mean runs list\?\)/],
    [['workflow', 'list'], /\(Did you mean workflows list\?\)/],
    [['job', 'stop', 'x'], /unknown command 'stop'\n\(Did you mean cancel\?\)/],
    [['notify', 'rm', 'x'], /Did you mean remove\?/],
    [['run', 'show'], /missing required argument 'run'/],
    [
      ['run', '-f', 'x', '-t', 'y', '--priority', 'urgent'],
      /Allowed choices are low, normal, high, critical/,
    ],
    [['runs', '--target', 'a', '--target', 'b'], /option '--target <target>' is given twice/],
    [['server', '--port', '1', '--port', '1'], /option '--port <number>' is given twice/],
    [['run', '-f', 'x', '-f', 'y', '-t', 'z'], /option '-f, --flow <name>' is given twice/],
    [['run', '-f', 'x', '-t', 'y', '-p', 'a=1', '-p', 'a=2'], /a is given twice/],
    [['run', '-f', 'x', '-t', 'y', '-p', 'word'], /must have the form name=value/],
    [['run', '-t', 'y'], /either a flow with -f or a module with -m/],
    [['run', '-f', 'x', '-m', 'x', '-t', 'y'], /either a flow with -f or a module with -m/],
    [['run', '-f', 'x'], /name the targets with -t .* or -T FILE/],
    [['run', '-f', 'x', '-T', '/nowhere'], /\/nowhere cannot be read: it does not exist/],
    [['run', '-f', 'x', '-T', '/tmp'], /\/tmp cannot be read: it is a directory/],
    [['run', '-f', 'x', '-T', '/tmp', '--dry-run'], /\/tmp cannot be read: it is a directory/],
    [['run', '-f', 'x', '-t', 'y', '-P', '/nowhere'], /\/nowhere cannot be read .*: it does not exist/],
    [['run', '-f', 'x', '-t', 'y', '-P', '/tmp'], /\/tmp cannot be read .*: it is a directory/],
    [['upload', '/nowhere'], /\/nowhere cannot be read: it does not exist/],
    [['upload', '/tmp'], /\/tmp cannot be read: it is a directory/],
    [
      ['findings', 'import', '/tmp', '--workspace', 'w', '--format', 'sarif'],
      /\/tmp cannot be read: it is a/,
    ],
    [['workflow', 'lint', '/nowhere.yaml'], /cannot be read: it does not exist/],
    [['exec', './nowhere.yaml', '-t', 'y'], /nowhere\.yaml cannot be read: it does not exist/],
    [['workflow', 'show', '/nowhere'], /nowhere cannot be read: it does not exist/],
    [['exec', 'x', '-t', 'y', '--config', '/nowhere'], /\/nowhere cannot be read: it does not exist/],
    [['runs', '--config', '/tmp'], /\/tmp cannot be read: it is a directory/],
    [
      ['runs', '--url', 'farm'],
      /"farm" is not the address of a server: write --url .* as http:\/\/HOST:PORT/,
    ],
    [['runs', '--limit', '0'], /must be a whole number of at least 1/],
    [['events', 'list', '--offset', '-1'], /must be a whole number/],
    [['run', 'show', ''], /must be an id/],
    [['cancel', '..'], /must be an id/],
    [['runs', '--xyz'], /^scanfarm: unknown option '--xyz'\n +see: scanfarm runs --help$/m],
    [['run', '-f', 'x', '-t', 'y', '-p', 'a=1', '--params', 'a=2'], /a is given twice/],
    [
      ['schedules', 'create', 'n', '-w', 'x', '-t', 'y'],
      /a schedule needs a trigger: --cron, --event or --watch/,
    ],
    [['exec', 'x', '-t', 'a;b'], /may contain ; only in the path/],
  ])('scanfarm %j ends with exit code 2 and a message with the remedy', async (args, message) => {
    const { code, err } = await run(args)
    expect(code).toBe(2)
    expect(err).toMatch(message)
    expect(err).not.toMatch(/^ +at /m)
  })

  test.each([
    ['exec', 'x', '--help'],
    ['run', '--help'],
    ['schedules', 'create', '--help'],
    ['function', 'eval', '--help'],
  ])('scanfarm %s %s takes params by --param and by --params', async (...args) => {
    expect((await run(args)).out).toMatch(
      /-p, --param <name=value> [^]*--params <name=value> +the same as --param/,
    )
  })

  test('exec refuses a workflow with an error and prints the error once', async () => {
    const file = join(folder, 'bad.yaml')
    writeFileSync(file, 'nope: [\n')
    const { code, err } = await run(['exec', file, '-t', 'a.test'])
    expect(code).toBe(1)
    expect(err.match(/YAML parse error/g)).toHaveLength(1)
    expect(err).toMatch(/^scanfarm: the workflow \S+ cannot be used:\n/)
  })

  test('the values of --param and --params are merged', async () => {
    const { out } = await run(['function', 'eval', 'a + b', '--params', 'a=1', '--param', 'b=2', '--json'])
    expect(JSON.parse(out)).toEqual({ result: '12' })
  })

  test('invalid settings are all reported, with exit code 2', async () => {
    const { code, err } = await run(['server', '--port', 'x'], { SCANFARM_LOG_LEVEL: 'loud' })
    expect(code).toBe(2)
    expect(err).toMatch(/http\.port .*from command line[^]*log\.level .*SCANFARM_LOG_LEVEL/)
  })

  test('a server that cannot be reached is named in the message, with exit code 4', async () => {
    const { code, err } = await run(['runs', '--url', 'http://127.0.0.1:1'])
    expect(code).toBe(4)
    expect(err).toMatch('no server answers at http://127.0.0.1:1')
  })
})

describe('scanfarm config', () => {
  test('config prints every setting with its origin and masks secrets', async () => {
    const file = join(folder, 'farm.yaml')
    writeFileSync(file, 'worker.slots: 3\n')
    const { code, out } = await run(['config', '--config', file], { DATABASE_URL: 'postgres://u:pw@h/d' })
    expect(code).toBe(0)
    expect(out).toMatch(`worker.slots: 3  # ${file}:1`)
    expect(out).toMatch('database.url: "***"  # DATABASE_URL')
    expect(out).not.toMatch('pw')
  })

  test('config -o json prints the settings as JSON', async () => {
    const { out } = await run(['config', '-o', 'json'])
    expect(JSON.parse(out)).toContainEqual({ key: 'http.port', value: 8002, origin: 'default' })
  })

  test('config --docs prints the table of all settings', async () => {
    expect((await run(['config', '--docs'])).out).toMatch('| `queue.kind` |')
  })
})

describe('import-base', () => {
  test('import-base writes the settings that carry over to a new private file, and refuses an existing one before it imports', async () => {
    const base = join(folder, 'base')
    const out = join(folder, 'out.yaml')
    mkdirSync(base)
    writeFileSync(join(base, 'osm-settings.yaml'), 'server: {port: 9000}\n')
    const imported = (...args: string[]) => run(['import-base', base, ...args])
    expect(await imported('--only', 'settings', '--dry-run', '--settings-out', out)).toMatchObject({
      code: 0,
      err: `${out} was not written: this was a dry run\n`,
    })
    expect(await imported('--only', 'settings', '--settings-out', out)).toMatchObject({ code: 0 })
    expect(readFileSync(out, 'utf8')).toBe('http:\n  port: 9000\n')
    expect(statSync(out).mode & 0o777).toBe(0o600)
    expect(await imported('--settings-out', out)).toMatchObject({
      code: 2,
      err: expect.stringContaining('name a new file'),
    })
    expect(await imported('--only', 'runs', '--settings-out', join(folder, 'b.yaml'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('needs the part settings'),
    })
  })
})
