import { describe, expect, test } from '@jest/globals'
import { CheckerBusy, WorkflowChecker } from '../../src/lint/checker.ts'
import { lint, READ_LIMITS, resolveWorkflow } from '@scanfarm/language'
import { openLibrary } from '../../src/library/open-library.ts'
import { FUNCTIONS } from '@scanfarm/functions'

const COUNT = 2_000
const HEAD = 'kind: module\nname: large\n'
const ONE_STEP = 'steps:\n  - {name: a, type: bash, command: echo}\n'

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('')
const steps = (fields: (index: number) => string, count = COUNT): string =>
  `${HEAD}steps:\n${lines(count, (index) => `  - {name: step${index}, type: bash, command: echo${fields(index)}}\n`)}`
const command = (text: string): string => `${HEAD}steps:\n  - {name: a, type: bash, command: "${text}"}\n`
const expression = (text: string): string =>
  `${HEAD}steps:\n  - {name: a, type: function, function: "${text}"}\n`

/** Files of 25 to 250 KB whose check once took a time that grew with the square of their length, or longer. */
const FILES: Readonly<Record<string, () => string>> = {
  'many steps': () => steps((index) => `, log: "{{Target}} ${index}"`),
  'a chain of steps': () => steps((index) => (index === 0 ? '' : `, depends_on: [step${index - 1}]`)),
  'many edges': () => steps((index) => `, depends_on: [${lines(index, (other) => `step${other},`)}]`, 300),
  'edges to nowhere': () => steps((index) => `, depends_on: [nostep${index}, tsep${index}]`),
  'gotos to nowhere': () => steps((index) => `, decision: {switch: a, default: {goto: x${index}}}`),
  'undefined variables': () => steps((index) => `, log: "{{undefined${index}}}", exports: {e${index}: a}`),
  'unknown keys': () => steps((index) => `, kye${index}: 1`),
  'many modules': () =>
    `kind: flow\nname: large\nmodules:\n${lines(COUNT, (index) => `  - {name: m${index}, path: m, params: {a${index}: "{{b${index}}}"}}\n`)}`,
  'many inline modules': () =>
    `kind: flow\nname: large\nmodules:\n${lines(COUNT, (index) => `  - {name: m${index}, steps: [{name: a, type: bash, command: "echo {{b${index}}}"}]}\n`)}`,
  'many params': () => `${HEAD}params:\n${lines(COUNT, (index) => `  - {name: p${index}}\n`)}${ONE_STEP}`,
  'many keys': () => `${HEAD}${lines(25_000, (index) => `k${index}: 1\n`)}`,
  'the same key again and again': () => `${HEAD}${'tags: x\n'.repeat(25_000)}`,
  'many anchors': () => `${HEAD}tags:\n${lines(7_500, (index) => `  - &a${index} x\n  - *a${index}\n`)}`,
  'many merged maps': () => `${HEAD}x: &m {name: a}\nsteps:\n${'  - {<<: *m}\n'.repeat(2_250)}`,
  'lists that are too deep': () => `${HEAD}steps:\n${`  - ${'['.repeat(65)}${']'.repeat(65)}\n`.repeat(250)}`,
  'one large template': () => command('{{Target}} '.repeat(20_000)),
  'tags without an end': () => command(`{{Target}} ${'{%if '.repeat(37_500)}`),
  'one large expression': () => expression('log(x) && '.repeat(22_500)),
  'an expression of many elements': () => expression('a[0] + '.repeat(10_000)),
  'a large regular expression': () => expression(`/${'(ab)?'.repeat(37_500)}/.test(x)`),
  'problems everywhere': () => `${HEAD}steps:\n${'  - {name: , type: nope, command: [{}]}\n'.repeat(2_250)}`,
}

describe('large workflow files', () => {
  test.each(Object.keys(FILES))('are checked in a time that grows with their length: %s', (name) => {
    const text = FILES[name]?.() ?? ''
    expect(text.length).toBeGreaterThan(25_000)
    // Other threads collect the garbage of all test files that this process has run.
    const before = process.threadCpuUsage()
    const problems = lint(text, 'large.yaml', FUNCTIONS)
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(4_000)
    expect(problems.length).toBeLessThanOrEqual(READ_LIMITS.problems + 1)
  })

  test('large workflow files report the first problems and the number of the others with their highest severity', () => {
    const problems = lint(
      steps((index) => `, kye: 1${index === COUNT - 1 ? ', type: nope' : ''}`).replace(
        'type: bash, command: echo, kye: 1, type',
        'type',
      ),
      'large.yaml',
      FUNCTIONS,
      { ...READ_LIMITS, problems: 50 },
    )
    expect(problems).toHaveLength(51)
    expect(problems.at(-1)).toMatchObject({ rule: 'more-problems', severity: 'error' })
    expect(problems.at(-1)?.message).toMatch(/^and \d+ more problems$/)
  })

  test('large workflow files are refused with the limit that they exceed', () => {
    const firstOf = (text: string) =>
      lint(text, 'x.yaml', FUNCTIONS).find(({ rule }) => rule === 'too-big')?.message
    expect(firstOf(steps(() => '', READ_LIMITS.entries + 1))).toBe(
      'steps has 10001 entries; at most 10000 are possible.',
    )
    expect(firstOf(expression(`'${'x'.repeat(READ_LIMITS.expressionChars)}'`))).toBe(
      'the expression has 32770 characters; at most 32768 are possible',
    )
    expect(
      firstOf(`${HEAD}params: [{name: deep, default: ${'['.repeat(65)}${']'.repeat(65)}}]\n${ONE_STEP}`),
    ).toBe('The file is nested deeper than 64 levels.')
    const long = `x-text: &t ${'x'.repeat(500_000)}\ntags: [${'*t,'.repeat(1_000)}]\n`
    expect(firstOf(`${HEAD}${long}${ONE_STEP}`)).toBe('The file expands to more than 4194304 characters.')
  })

  test('the total size of a flow and of a chain of parents is limited', async () => {
    const library = await openLibrary([])
    const text = 'x'.repeat(1_000_000)
    await library.put('m', `kind: module\nname: m\ndescription: ${text}\n${ONE_STEP}`)
    await library.put(
      'f',
      `kind: flow\nname: f\nmodules:\n${lines(100, (index) => `  - {name: m${index}, path: m}\n`)}`,
    )
    expect(() => resolveWorkflow(library, { name: 'f' })).toThrow('larger than 16777216 characters together')
    await library.put('p0', `kind: module\nname: p0\n${ONE_STEP}`)
    for (let level = 1; level <= 40; level++)
      await library.put(`p${level}`, `kind: module\nname: p${level}\nextends: p${level - 1}\n`)
    expect(resolveWorkflow(library, { name: 'p30' }).root.steps).toHaveLength(1)
    expect(() => resolveWorkflow(library, { name: 'p40' })).toThrow('the chain of parents is longer than 32')
  })
})

const file = (text: string) => ({ source: 'test', path: 'x.yaml', text, limits: READ_LIMITS })

describe('WorkflowChecker', () => {
  test('the checker returns the same result in a thread as without one', async () => {
    await using checker = new WorkflowChecker()
    const text = steps((index) => `, log: "{{Targett}} ${index}"`, 200)
    const { entry, problems } = await checker.check(file(text))
    expect(problems).toEqual(lint(text, 'x.yaml', FUNCTIONS))
    expect(entry?.workflow?.steps).toHaveLength(200)
  })

  test('the checker stops a check that exceeds its time limit, and checks the next file', async () => {
    await using checker = new WorkflowChecker({ timeMs: 20 })
    const { entry, problems } = await checker.check(file(FILES['many modules']?.() ?? ''))
    expect(problems).toMatchObject([{ rule: 'too-slow', severity: 'error' }])
    expect(entry?.workflow).toBeUndefined()
    await using patient = new WorkflowChecker()
    const checks = [FILES['many steps']?.() ?? '', steps(() => '', 100)].map((text) =>
      patient.check(file(text)),
    )
    expect((await Promise.all(checks)).map((checked) => checked.problems)).toEqual([[], []])
  })

  test('the checker stops a check that exceeds its memory limit', async () => {
    await using checker = new WorkflowChecker({ memoryMb: 24 })
    const { problems } = await checker.check(file(FILES['undefined variables']?.() ?? ''))
    expect(problems).toMatchObject([{ rule: 'too-slow', severity: 'error' }])
  })

  test('the checker refuses a file when too many are waiting', async () => {
    await using checker = new WorkflowChecker({ maxWaiting: 1 })
    const text = steps(() => '', 200)
    const [first, second] = [checker.check(file(text)), checker.check(file(text))]
    await expect(checker.check(file(text))).rejects.toThrow(CheckerBusy)
    expect((await first).problems).toEqual([])
    expect((await second).problems).toEqual([])
  })
})
