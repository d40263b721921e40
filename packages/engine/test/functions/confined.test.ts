import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { AllowedPath } from '@scanfarm/functions'
import { fileFields, STEP_FIELDS } from '../harness/file-fields.ts'
import { hostRunner } from '../harness/host-runner.ts'
import { useRuns } from '../harness/runs.ts'
import { attacks, services } from '../harness/path-functions.ts'

const { run, folder } = useRuns()
const NOBODY = { uid: 65534, gid: 65534 }
const isRoot = process.getuid?.() === 0
const SECRET = 'root:SECRET'
const CANARY = 'SCANFARM_TEST_CANARY'

beforeAll(async () => {
  process.env[CANARY] = SECRET
  chmodSync(folder(), 0o777)
  // What expressions need is loaded before this process gives up its rights.
  await run(
    "kind: module\nname: warm\nsteps: [{name: a, type: function, function: \"[1].map((x) => x).length + jq('1', '.')\"}]",
  )
})
afterAll(() => {
  Reflect.deleteProperty(process.env, CANARY)
})

let count = 0

/** Folders of a run, and beside them what anybody on the machine may read and write. */
const scene = () => {
  const base = mkdtempSync(join(folder(), `confined-${++count}-`))
  const [output, temp, foreign] = [join(base, 'out'), join(base, 'tmp'), join(base, 'foreign')]
  for (const path of [output, temp, foreign, join(foreign, 'sub')]) mkdirSync(path)
  for (const path of ['secret', 'secret.zip', 'main.py', 'sub/secret']) {
    writeFileSync(join(foreign, path), SECRET)
    chmodSync(join(foreign, path), 0o666)
  }
  writeFileSync(join(output, 'mine'), '{"a":"mine"}\n')
  for (const path of [base, foreign, join(foreign, 'sub')]) chmodSync(path, 0o777)
  if (isRoot) for (const path of [output, temp, join(output, 'mine')]) chownSync(path, NOBODY.uid, NOBODY.gid)
  return { base, output, temp, foreign }
}
type Scene = ReturnType<typeof scene>

const everything = (root: string): string[] =>
  readdirSync(root, { withFileTypes: true }).flatMap((item) => {
    const name = join(root, item.name)
    const { uid, mtimeMs, mode } = lstatSync(name)
    const text = item.isFile() ? readFileSync(name, 'utf8') : ''
    return [`${name} ${uid} ${mode} ${mtimeMs} ${text}`, ...(item.isDirectory() ? everything(name) : [])]
  })

interface Who {
  readonly owner?: typeof NOBODY
  readonly paths?: readonly AllowedPath[]
}

const perform = async (at: Scene, steps: readonly object[], { owner, paths = [] }: Who, more = '') => {
  const found: string[] = []
  const ran = await run(`kind: module\nname: main\n${more}\nsteps: ${JSON.stringify(steps)}\n`, {
    folders: { output: at.output, temp: at.temp },
    services: services(found),
    paths,
    openRunner: async () => hostRunner(owner),
    ...(owner === undefined ? {} : { owner }),
  })
  return { ...ran, found }
}

/** Each call as a step of one run; its answer or its error. */
const answers = async (at: Scene, calls: readonly string[], who: Who): Promise<string[]> => {
  const steps = calls.map((call, index) => ({
    name: `s${index}`,
    type: 'function',
    function: call,
    on_error: [{ action: 'continue' }],
  }))
  const { recorder, found } = await perform(at, steps, who)
  expect(JSON.stringify([recorder.events, found])).not.toContain(SECRET)
  expect(recorder.artifacts).toEqual([])
  return recorder.steps.map(({ errorMessage, output }) => errorMessage || output.trim())
}

/** Nothing here is missed by anybody, should a function remove it. */
const PATHS: Readonly<Record<string, (at: Scene) => string>> = {
  'a file elsewhere': ({ foreign }) => join(foreign, 'secret'),
  'a folder elsewhere': ({ foreign }) => foreign,
  'a new file elsewhere': ({ foreign }) => join(foreign, 'none'),
  'a way up out of the workspace': ({ output }) => `${output}/../foreign/secret`,
  'a relative way up': () => '../foreign/secret',
  'the environment of this process': () => '/proc/self/environ',
  'the environment of the process above': () => `/proc/${process.ppid}/environ`,
  'the root folder by way of a process': ({ foreign }) => `/proc/self/root${foreign}/secret`,
  'a schedule of the machine': () => '/etc/cron.d/scanfarm-test',
  'a way up out of a shared folder': ({ foreign }) => `/usr/share/..//..${foreign}/secret`,
}

/** These only ask what a path is, and answer no. */
const ASKS: Readonly<Record<string, string>> = {
  'file_exists.path': 'false',
  'is_file.path': 'false',
  'is_dir.path': 'false',
  'is_git.path': 'false',
  'get_types.text': 'string',
}

const asUnprivileged = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  if (!isRoot) return await work()
  process.setegid?.(NOBODY.gid)
  process.seteuid?.(NOBODY.uid)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}

type Work = (who: Who) => Promise<void>

const WAYS: readonly (readonly [string, (work: Work) => Promise<void>])[] = [
  ...(isRoot
    ? [['root whose commands run as another user', (work: Work) => work({ owner: NOBODY })] as const]
    : []),
  ['a process without rights', async (work) => await asUnprivileged(async () => await work({}))],
]

describe.each(WAYS)('for %s', (_title, as) => {
  test.each(Object.entries(PATHS))('no function reads or writes %s', async (_title, pathOf) => {
    const at = scene()
    const before = [...everything(at.foreign), existsSync('/etc/cron.d/scanfarm-test')]
    await as(async (who) => {
      const all = attacks()
      const got = await answers(
        at,
        all.map(({ call }) => call(pathOf(at))),
        who,
      )
      const wrong = all.flatMap(({ what }, index) => {
        const answer = got[index] ?? ''
        if (answer === ASKS[what]) return []
        return /outside of the folders that a workflow may use: .* runner\.paths \(SCANFARM_RUNNER_PATHS\)|is outside of the run's folders/.test(
          answer,
        )
          ? []
          : [{ what, answer }]
      })
      expect(wrong).toEqual([])
    })
    expect([...everything(at.foreign), existsSync('/etc/cron.d/scanfarm-test')]).toEqual(before)
    expect(everything(at.output).join('\n')).not.toContain(SECRET)
  })

  test('no function reads password files or devices', async () => {
    const at = scene()
    await as(async (who) => {
      const calls = ['/etc/shadow', '/dev/zero', '/dev/stdin'].flatMap((path) =>
        ['read_file', 'read_lines', 'file_length', 'cat_file', 'jq_from_file'].map(
          (name) => `${name}("${path}")`,
        ),
      )
      for (const answer of await answers(at, calls, who)) expect(answer).toMatch(/outside of the folders/)
    })
  })

  test('file fields of steps and reports neither read nor write outside the folders of the run', async () => {
    const at = scene()
    const before = everything(at.foreign)
    const secret = join(at.foreign, 'secret')
    // A field that is new here: say in STEP_FIELDS how it is attacked.
    expect(fileFields().filter((name) => !Object.hasOwn(STEP_FIELDS, name))).toEqual([])
    await as(async (who) => {
      for (const [field, stepOf] of Object.entries(STEP_FIELDS)) {
        if (stepOf === undefined) continue
        const { recorder } = await perform(at, [{ name: 'a', ...stepOf(secret) }], who)
        expect([field, recorder.steps[0]?.status]).toEqual([field, 'failed'])
        expect(recorder.steps[0]?.errorMessage).toMatch(
          /foreign\/secret is outside of the folders that a workflow may use/,
        )
        expect(JSON.stringify(recorder.steps)).not.toContain(SECRET)
      }
      const steps = [{ name: 'a', type: 'bash', command: 'true' }]
      const { recorder } = await perform(
        at,
        steps,
        who,
        `dependencies: {files: ['${secret}']}\nreports: [{name: r, path: '${secret}', type: text}]`,
      )
      expect(recorder.artifacts.filter(({ name }) => name === 'r')).toEqual([])
      expect(recorder.lines.join('\n')).toContain(`report 'r': ${secret} is outside of the folders`)
    })
    expect(everything(at.foreign)).toEqual(before)
  })

  test('shared folders are readable and not writable', async () => {
    const at = scene()
    await as(async (who) => {
      const paths = [{ path: at.foreign, write: false }]
      expect(
        await perform(
          at,
          [
            {
              name: 'a',
              type: 'function',
              function: `file_exists("/usr/share") && glob("${at.foreign}/*/sec*").length == 1 && file_length("${at.foreign}/secret") == 1`,
            },
          ],
          { ...who, paths },
        ).then(({ recorder }) => recorder.steps[0]?.output.trim()),
      ).toBe('true')
      const refused = await answers(
        at,
        [
          `save_content("x", "${at.foreign}/secret")`,
          `save_content("x", "${at.foreign}/new")`,
          `rm_rf("${at.foreign}/sub")`,
          `move_file("${at.foreign}/secret", "x")`,
          `create_folder("/usr/share/scanfarm-test")`,
          `wget("http://127.0.0.1:1/x", "/opt/x")`,
        ],
        { ...who, paths },
      )
      for (const answer of refused)
        expect(answer).toMatch(/may be read but not written by a workflow: .* as PATH:rw$/)
      const asked = await answers(
        at,
        [`save_content("x", "${at.foreign}/new/deep") && rm_rf("${at.foreign}/sub")`],
        { ...who, paths: [{ path: at.foreign, write: true }] },
      )
      expect(asked).toEqual(['true'])
    })
    expect(readFileSync(join(at.foreign, 'new/deep'), 'utf8')).toBe('x')
    expect(existsSync(join(at.foreign, 'sub'))).toBe(false)
    if (isRoot)
      expect([statSync(join(at.foreign, 'new')).uid, statSync(join(at.foreign, 'new/deep')).uid]).toEqual([
        65534, 65534,
      ])
  })
})

test('a file that the settings deny is not read, whatever folder contains it or link leads to it', async () => {
  const at = scene()
  const shared = join(at.base, 'shared')
  mkdirSync(join(shared, 'closed'), { recursive: true })
  for (const path of ['open', 'closed/file']) writeFileSync(join(shared, path), SECRET)
  symlinkSync(join(shared, 'closed/file'), join(shared, 'link'))
  symlinkSync(join(shared, 'link'), join(shared, 'setting'))
  const got = await answers(
    at,
    [
      `read_file("${shared}/open").length`,
      `read_file("${shared}/closed/file")`,
      `read_file("${shared}/link")`,
      `read_file("${shared}/closed/../link")`,
      `file_exists("${shared}/closed/file")`,
      `save_content("x", "${shared}/closed/file")`,
    ],
    {
      paths: [
        { path: shared, write: true },
        { path: join(shared, 'setting'), write: false, closed: true },
      ],
    },
  )
  expect(got.map((answer) => (/is outside of the folders/.test(answer) ? 'refused' : answer))).toEqual([
    String(SECRET.length),
    'refused',
    'refused',
    'refused',
    'false',
    'refused',
  ])
})

/** Only root can run commands as another user. */
const FOR_ROOT = isRoot ? ['root'] : []

describe.each(FOR_ROOT)('for %s whose commands run as another user', () => {
  test('functions neither read nor write files that the user of commands cannot access', async () => {
    const at = scene()
    const shared = join(at.base, 'shared')
    for (const path of [shared, join(shared, 'closed'), join(shared, 'locked')]) mkdirSync(path)
    for (const path of ['private', 'readable', 'closed/file', 'locked/file'])
      writeFileSync(join(shared, path), SECRET)
    chmodSync(join(shared, 'private'), 0o600)
    chmodSync(join(shared, 'closed'), 0o700)
    chmodSync(join(shared, 'locked'), 0o711)
    const who = { owner: NOBODY, paths: [{ path: shared, write: true }] }
    const before = everything(shared)
    const got = await answers(
      at,
      [
        `read_file("${shared}/private")`,
        `read_file("${shared}/closed/file")`,
        `glob("${shared}/locked/*").length`,
        `dir_length("${shared}/locked")`,
        `save_content("x", "${shared}/readable")`,
        `save_content("x", "${shared}/new")`,
        `create_folder("${shared}/a/b")`,
        `rm_rf("${shared}/readable")`,
        `remove_file("${shared}/readable")`,
        `move_file("mine", "${shared}/readable")`,
        `sort_unix("mine", "${shared}/readable")`,
        `file_exists("${shared}/closed/file")`,
        `read_file("${shared}/locked/file").length`,
      ],
      who,
    )
    const closed = /may not be (read|written|entered) by the user of commands \(uid 65534\)/
    expect(got.map((answer) => (closed.test(answer) ? 'closed' : answer))).toEqual([
      'closed',
      'closed',
      '0',
      'closed',
      'closed',
      'closed',
      'closed',
      'closed',
      'closed',
      'closed',
      'closed',
      'false',
      String(SECRET.length),
    ])
    expect(everything(shared)).toEqual(before)
  })

  test('hard links and symbolic links in the workspace grant no additional rights', async () => {
    const at = scene()
    const [closed, readable] = [join(at.base, 'private'), join(at.base, 'readable')]
    for (const path of [closed, readable]) writeFileSync(path, SECRET)
    chmodSync(closed, 0o600)
    linkSync(closed, join(at.output, 'hard'))
    linkSync(readable, join(at.output, 'hard-readable'))
    writeFileSync(join(at.output, 'moved'), SECRET)
    chmodSync(join(at.output, 'moved'), 0o600)
    symlinkSync('/usr/share', join(at.output, 'shared'))
    expect(
      await answers(
        at,
        [
          'read_file("hard")',
          'save_content("x", "hard")',
          'save_content("x", "hard-readable")',
          'read_file("moved")',
          'save_content("x", "shared/x")',
          'is_dir("shared")',
        ],
        { owner: NOBODY },
      ),
    ).toEqual([
      ...Array.from({ length: 3 }, () => expect.stringContaining('is a hard link to a file of another user')),
      expect.stringContaining('is a file of another user that commands may not read'),
      expect.stringContaining('may be read but not written'),
      'true',
    ])
    expect(readFileSync(readable, 'utf8')).toBe(SECRET)
  })

  test('all created files belong to the user of commands, even if steps create them concurrently', async () => {
    const at = scene()
    const steps = Array.from({ length: 20 }, (_, index) => `append_file("all/${index % 3}", "mine")`)
    const { recorder } = await perform(at, [{ name: 'a', type: 'function', parallel_functions: steps }], {
      owner: NOBODY,
    })
    expect(recorder.steps.map(({ errorMessage }) => errorMessage)).toEqual([''])
    for (const name of ['all', 'all/0', 'all/1', 'all/2'])
      expect(statSync(join(at.output, name))).toMatchObject(NOBODY)
  })
})
