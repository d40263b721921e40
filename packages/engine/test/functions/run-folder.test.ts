import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import {
  readText,
  appendFile,
  makeFolder,
  moveFile,
  writeText,
  type AllowedPath,
  removeTree,
  openSafePath,
} from '@scanfarm/functions'
import { useRuns } from '../harness/runs.ts'
import { attacks, services, WORKS_ON_LINK } from '../harness/path-functions.ts'

const { run, folder } = useRuns()

const SECRET = 'root:SECRET'
/** The one who swaps may have to wait for a processor. */
const MEET_MS = 60_000
let count = 0

/** A folder of somebody else beside the run's two folders. */
const scene = () => {
  const base = mkdtempSync(join(folder(), `scene-${++count}-`))
  const [output, temp, foreign] = [join(base, 'out'), join(base, 'tmp'), join(base, 'foreign')]
  for (const path of [output, temp, foreign, join(foreign, 'sub')]) mkdirSync(path)
  for (const path of ['secret', 'secret.zip', 'main.py', 'sub/secret'])
    writeFileSync(join(foreign, path), SECRET)
  writeFileSync(join(output, 'mine'), '{"a":"mine"}\n')
  return { base, output, temp, foreign, place: { folders: { output, temp }, owner: undefined } }
}

/** All below a folder; the recursion of `readdirSync` would go through links. */
const everything = (root: string): { name: string; text: string }[] =>
  readdirSync(root, { withFileTypes: true }).flatMap((item) => {
    const name = join(root, item.name)
    const { uid, mtimeMs, nlink, mode } = lstatSync(name)
    const text = item.isFile() ? readFileSync(name, 'utf8') : ''
    return [{ name, uid, mtimeMs, nlink, mode, text }, ...(item.isDirectory() ? everything(name) : [])]
  })

/** Each call as a step of one run; its answer or its error. */
const answers = async (
  at: ReturnType<typeof scene> & { paths?: readonly AllowedPath[] },
  calls: readonly string[],
): Promise<string[]> => {
  const found: string[] = []
  const steps = calls.map((call, index) => ({
    name: `s${index}`,
    type: 'function',
    function: call,
    on_error: [{ action: 'continue' }],
  }))
  const { recorder } = await run(`kind: module\nname: main\nsteps: ${JSON.stringify(steps)}\n`, {
    folders: { output: at.output, temp: at.temp },
    services: services(found),
    paths: at.paths ?? [],
  })
  expect(recorder.steps).toHaveLength(calls.length)
  expect(JSON.stringify([recorder.events, found])).not.toContain(SECRET)
  expect(recorder.artifacts).toEqual([])
  return recorder.steps.map(({ errorMessage, output }) => errorMessage || output.trim())
}

type Links = (at: ReturnType<typeof scene>, index: number) => string

const inFolder = (root: string, index: number): string => {
  const path = join(root, `a${index}`)
  mkdirSync(path)
  return path
}
/** A link under each name that a call may make of the path. */
const links = (path: string, target: string): string => {
  symlinkSync(target, path)
  symlinkSync(target, `${path}.zip`)
  return path
}

const SCENARIOS: Readonly<Record<string, Links>> = {
  'to a file': ({ output, foreign }, index) =>
    links(join(inFolder(output, index), 'x'), join(foreign, 'secret')),
  'to a folder': ({ output, foreign }, index) => links(join(inFolder(output, index), 'x'), foreign),
  'that dangles': ({ output, foreign }, index) =>
    links(join(inFolder(output, index), 'x'), join(foreign, 'none')),
  'by a relative way': ({ output }, index) =>
    links(join(inFolder(output, index), 'x'), '../../foreign/secret'),
  'over a link that stays inside': ({ output, foreign }, index) => {
    const path = inFolder(output, index)
    symlinkSync(join(foreign, 'secret'), join(path, 'y'))
    return links(join(path, 'x'), 'y')
  },
  'in the middle of the path': ({ output, foreign }, index) => {
    const path = inFolder(output, index)
    symlinkSync(foreign, join(path, 'way'))
    return join(path, 'way', 'secret')
  },
  'in the middle, before what is not there': ({ output, foreign }, index) => {
    const path = inFolder(output, index)
    symlinkSync(join(foreign, 'sub'), join(path, 'way'))
    return join(path, 'way', 'deep', 'none')
  },
  "in the middle, in the attempt's folder": ({ temp, foreign }, index) => {
    const path = inFolder(temp, index)
    symlinkSync(foreign, join(path, 'way'))
    return join(path, 'way', 'sub')
  },
}

describe.each(Object.entries(SCENARIOS))('a link %s', (title, prepare) => {
  test('no function follows it out of the folders of the run', async () => {
    const at = scene()
    const before = everything(at.foreign)
    const all = attacks()
    expect(all.length).toBeGreaterThan(100)
    const got = await answers(
      at,
      all.map(({ call }, index) => call(prepare(at, index))),
    )
    const wrong = all.flatMap(({ what }, index) => {
      const answer = got[index] ?? ''
      const harmless = WORKS_ON_LINK.has(what) && !title.includes('middle')
      return harmless || /is a link out of the run's folder/.test(answer) ? [] : [{ what, answer }]
    })
    expect(wrong).toEqual([])
    expect(got.join('\n')).not.toContain(SECRET)
    expect(everything(at.foreign)).toEqual(before)
    expect(everything(at.output).filter(({ text }) => text.includes(SECRET))).toEqual([])
  })
})

describe('in the folders of a run', () => {
  test('files with fixed names are not written through links', async () => {
    const at = scene()
    const before = everything(at.foreign)
    for (const name of ['security-report.md', 'runtime-export.json', 'x', 'nmap-127-0-0-1.jsonl'])
      symlinkSync(join(at.foreign, 'secret'), join(at.output, name))
    const got = await answers(at, [
      'generate_security_report("mine")',
      'runtime_export()',
      'wget_unix("http://127.0.0.1:1/x")',
      'git_clone("https://127.0.0.1:1/x")',
      'run_nmap("127.0.0.1", "-sL")',
    ])
    for (const answer of got) expect(answer).toMatch(/(\S+) is a link out of the run's folder$/)
    expect(everything(at.foreign)).toEqual(before)
  })

  test('links within the folders of a run work, also between the two folders and for new files', async () => {
    const at = scene()
    mkdirSync(join(at.output, 'real'))
    symlinkSync('real', join(at.output, 'way'))
    symlinkSync('../../tmp', join(at.output, 'real', 'temp'))
    symlinkSync(join(at.output, 'mine'), join(at.temp, 'mine'))
    symlinkSync('later', join(at.output, 'soon'))
    symlinkSync('round', join(at.output, 'round'))
    expect(
      await answers(at, [
        'read_file("way/temp/mine")',
        'save_content("text", "way/deep/file") && read_file("real/deep/file")',
        'save_content("later", "soon") && read_file("later")',
        'glob("way/**/file").length',
        'sort_unix("way/temp/mine", "way/sorted") && file_length("real/sorted")',
        'rm_rf("way/temp") && file_length("mine")',
        'read_file("round")',
      ]),
    ).toEqual(['{"a":"mine"}', 'text', 'later', '1', '1', '1', expect.stringMatching(/more than 40 links$/)])
    expect(existsSync(join(at.temp, 'mine'))).toBe(true)
  })

  test('listings and uploads of a folder do not follow links', async () => {
    const at = scene()
    mkdirSync(join(at.output, 'd/real'), { recursive: true })
    for (const name of ['d/real/secret', 'd/real/f.ts']) writeFileSync(join(at.output, name), 'mine')
    symlinkSync(at.foreign, join(at.output, 'd/way'))
    symlinkSync(join(at.foreign, 'secret'), join(at.output, 'd/link'))
    expect(
      await answers(at, [
        'glob("d/*/secret")',
        'glob("d/**/secret")',
        'cdn_sync_upload("d", "up")',
        'detect_language("d")',
      ]),
    ).toEqual([
      JSON.stringify([join(at.output, 'd/real/secret')]),
      JSON.stringify([join(at.output, 'd/real/secret')]),
      '2',
      'typescript',
    ])
  })

  test('paths that the settings allow are used under their configured name', async () => {
    const at = scene()
    const [elsewhere, link] = [join(at.base, 'elsewhere'), join(at.base, 'link')]
    mkdirSync(elsewhere)
    symlinkSync(elsewhere, link)
    const paths = [{ path: link, write: true }]
    expect(
      await answers({ ...at, paths }, [
        `save_content("text", "${link}/deep/file") && read_file("${link}/deep/file")`,
        `append_file("${link}/all", "mine") && move_file("${link}/all", "back") && read_file("back")`,
        `glob("${link}/*").length`,
        `rm_rf("${link}/deep") && dir_length("${link}")`,
      ]),
    ).toEqual(['text', '{"a":"mine"}', '1', '0'])
  })

  test('the real path of a folder is accepted as the folder', async () => {
    const at = scene()
    const other = join(at.base, 'other-name')
    symlinkSync(at.output, other)
    symlinkSync(join(at.foreign, 'secret'), join(at.output, 'x'))
    const place = { folders: { output: other, temp: at.temp }, owner: undefined }
    await expect(readText(join(at.output, 'x'), place)).rejects.toThrow("x is a link out of the run's folder")
    expect(await readText(join(at.output, 'mine'), place)).toBe('{"a":"mine"}\n')
  })

  test('only regular files are opened, and no hard links to files of other users', async () => {
    const at = scene()
    const pipe = spawn('mkfifo', [join(at.output, 'pipe')])
    await once(pipe, 'close')
    await expect(readText(join(at.output, 'pipe'), at.place)).rejects.toThrow('neither a regular file')
    await expect(writeText(join(at.output, 'pipe'), 'x', at.place)).rejects.toThrow('neither a regular file')
    linkSync(join(at.foreign, 'secret'), join(at.output, 'hard'))
    const owner = { uid: (process.getuid?.() ?? 0) + 1, gid: 65534 }
    const message = 'hard link to a file of another user'
    await expect(readText(join(at.output, 'hard'), { ...at.place, owner })).rejects.toThrow(message)
    await expect(writeText(join(at.output, 'hard'), 'x', { ...at.place, owner })).rejects.toThrow(message)
    expect(readFileSync(join(at.foreign, 'secret'), 'utf8')).toBe(SECRET)
  })

  test('a folder is removed with its content, without following links', async () => {
    const at = scene()
    await makeFolder(join(at.output, 'a/b/c'), at.place)
    for (const name of ['a/link', 'a/b/link']) symlinkSync(at.foreign, join(at.output, name))
    await writeText(join(at.output, 'a/b/c/file'), 'x', at.place)
    await removeTree(join(at.output, 'a'), at.place)
    expect(existsSync(join(at.output, 'a'))).toBe(false)
    expect(existsSync(join(at.foreign, 'sub/secret'))).toBe(true)
    await removeTree(join(at.output, 'a/b'), at.place)
    await removeTree(at.temp, at.place)
    expect(existsSync(at.temp)).toBe(false)
  })

  test('a folder that is replaced by a link while it is open is still the one that is used', async () => {
    const at = scene()
    mkdirSync(join(at.output, 'a'))
    using safePath = await openSafePath(join(at.output, 'a/secret'), at.place)
    renameSync(join(at.output, 'a'), join(at.output, 'b'))
    symlinkSync(at.foreign, join(at.output, 'a'))
    await using file = await safePath.folder.create(safePath.name)
    await file.writeFile('mine')
    expect(readFileSync(join(at.output, 'b/secret'), 'utf8')).toBe('mine')
    expect(readFileSync(join(at.foreign, 'secret'), 'utf8')).toBe(SECRET)
  })

  test('constantly swapping folders and links neither reads nor writes anything outside', async () => {
    const at = scene()
    const before = everything(at.foreign)
    mkdirSync(join(at.output, 'd'))
    writeFileSync(join(at.output, 'd/secret'), 'mine')
    const swap =
      'while :; do mv d real; ln -s "$0" d; rm d; mv -T real d; ln -s "$0/secret" l; mv -T l d/secret; rm d/secret; done'
    const swapper = spawn('/bin/sh', ['-c', swap, at.foreign], { cwd: at.output, stdio: 'ignore' })
    const path = join(at.output, 'd/secret')
    const seen = new Set<string>()
    const met = (): boolean => [...seen].some((text) => text.includes("link out of the run's folder"))
    const deadline = performance.now() + MEET_MS
    try {
      // So many, and on until they have met at least once.
      for (let round = 0; round < 150 || (!met() && performance.now() < deadline); round++) {
        const tries = await Promise.allSettled([
          readText(path, at.place),
          writeText(path, 'mine', at.place),
          appendFile(path, join(at.output, 'mine'), at.place),
          moveFile(path, join(at.output, 'moved'), at.place),
          removeTree(path, at.place),
        ])
        for (const one of tries)
          seen.add(one.status === 'fulfilled' ? String(one.value) : String(one.reason).slice(-40))
      }
    } finally {
      swapper.kill('SIGKILL')
      await once(swapper, 'close')
    }
    expect([...seen].join('\n')).not.toContain(SECRET)
    expect(met()).toBe(true)
    expect(everything(at.foreign)).toEqual(before)
  })

  test('files that steps write, read and report are not reached through links to the outside', async () => {
    const at = scene()
    const before = everything(at.foreign)
    for (const name of ['std', 'list', 'stream', 'report'])
      symlinkSync(join(at.foreign, 'secret'), join(at.output, name))
    const each = { name: 'item', type: 'bash', command: 'echo [[line]]' }
    const loop = { type: 'foreach', variable: 'line', step: each, on_error: [{ action: 'continue' }] }
    const steps = [
      {
        name: 'std',
        type: 'bash',
        command: 'echo x',
        std_file: '{{Output}}/std',
        on_error: [{ action: 'continue' }],
      },
      { name: 'list', input: '{{Output}}/list', ...loop },
      {
        name: 'stream',
        input: '{{Output}}/mine',
        ...loop,
        exports: { streaming_output: '{{Output}}/stream' },
      },
    ]
    const reports = [{ name: 'report', path: '{{Output}}/report', type: 'text' }]
    const text = `kind: module\nname: main\nsteps: ${JSON.stringify(steps)}\nreports: ${JSON.stringify(reports)}\n`
    const { recorder } = await run(text, { folders: { output: at.output, temp: at.temp } })
    expect(recorder.steps.map(({ errorMessage }) => errorMessage)).toEqual(
      ['std', 'list', 'stream'].map((name) => `${name} is a link out of the run's folder`),
    )
    expect(recorder.artifacts.filter(({ type }) => type === 'report')).toEqual([])
    expect(recorder.lines.join('\n')).toContain("report is a link out of the run's folder")
    expect(everything(at.foreign)).toEqual(before)
  })

  test('files and folders that functions create belong to the user of commands', async () => {
    const at = scene()
    const root = process.getuid?.() === 0
    const owner = root
      ? { uid: 65534, gid: 65534 }
      : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    chmodSync(at.output, 0o777)
    const place = { ...at.place, owner }
    await writeText(join(at.output, 'x/y/file'), 'x', place)
    await appendFile(join(at.output, 'x/z/all'), join(at.output, 'mine'), place)
    await moveFile(join(at.output, 'mine'), join(at.output, 'w/moved'), place)
    for (const name of ['x', 'x/y', 'x/y/file', 'x/z', 'x/z/all', 'w', 'w/moved'])
      expect({ name, uid: lstatSync(join(at.output, name)).uid }).toEqual({ name, uid: owner.uid })
  })
})

test('concurrent creation of the same folders always succeeds, also against a command', async () => {
  for (let round = 0; round < 10; round++) {
    const at = scene()
    const wanted = join(at.output, 'v/w')
    const command = spawn('mkdir', ['-p', wanted])
    const ended = once(command, 'exit')
    await Promise.all(
      Array.from({ length: 16 }, async (_, index) =>
        index % 2 === 0 ? makeFolder(wanted, at.place) : writeText(join(wanted, `${index}`), 'x', at.place),
      ),
    )
    expect(await ended).toEqual([0, null])
    expect(readdirSync(wanted)).toHaveLength(8)
  }
})
