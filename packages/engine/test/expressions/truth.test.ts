import { describe, expect, test } from '@jest/globals'
import { useRuns } from '../harness/runs.ts'

const runs = useRuns()

/** Every way to ask whether a flag is on, and its result for a flag that is on and for one that is off. */
const QUESTIONS: readonly (readonly [string, boolean])[] = [
  ['flag', true],
  ['{{flag}}', true],
  ['flag == "true"', true],
  ["'true' == flag", true],
  ['flag == true', true],
  ['flag != "true"', false],
  ['flag == "false"', false],
  ['flag == false', false],
  ['{{flag}} == "true"', true],
  ['"{{flag}}" == "true"', true],
  ['!flag', false],
  ['!{{flag}}', false],
  ['!!flag', true],
  ['flag && 1 == 1', true],
  ['flag || 1 == 2', true],
  ['flag ? true : false', true],
  ['trim(flag) == "true"', true],
  ['contains(flag, "tru")', true],
  // These need the engine.
  ['[flag].includes(flag) && flag == "true"', true],
  ['let on = flag; on == "true"', true],
  ['let on = 0; if (flag) on = 1; on == 1', true],
  ['[1, 2].filter((n) => n == 1 && flag == true).length == 1', true],
  ['(/* == */ flag) != ("false")', true],
]

const CHECKS = QUESTIONS.map(
  ([question], index) => `
  - {name: s${index}, type: bash, command: 'true', pre_condition: '${question.replaceAll("'", "''")}'}`,
).join('')

/** The indexes of the questions whose answer was yes. */
const answered = async (declared: string, params: Record<string, string> = {}): Promise<string[]> => {
  const { recorder, errorMessage } = await runs.run(
    `kind: module\nname: m\nparams: [${declared}]\nsteps:${CHECKS}\n`,
    { params },
  )
  expect(errorMessage).toBe('')
  return recorder.steps.flatMap(({ key, status }) =>
    status === 'completed' ? [QUESTIONS[Number(key) - 1]?.[0] ?? ''] : [],
  )
}

const WHEN_ON = QUESTIONS.flatMap(([question, isOn]) => (isOn ? [question] : []))
const WHEN_OFF = QUESTIONS.flatMap(([question, isOn]) => (isOn ? [] : [question]))

describe('the texts true and false', () => {
  test.each([
    ['a param without a type', '{name: flag, default: "true"}', {}],
    ['a param with a boolean default', '{name: flag, default: true}', {}],
    ['a param of the caller', '{name: flag}', { flag: 'true' }],
    ['a param of the type bool', '{name: flag, type: bool}', { flag: 'true' }],
    ['a param of the type string', '{name: flag, type: string}', { flag: 'true' }],
  ])('Every question about %s that is true has the right answer', async (_what, declared, params) => {
    expect(await answered(declared, params)).toEqual(WHEN_ON)
  })

  test.each([
    ['a param without a type', '{name: flag, default: "false"}', {}],
    ['a param with a boolean default', '{name: flag, default: false}', {}],
    ['a param of the caller', '{name: flag}', { flag: 'false' }],
    ['a param of the type bool', '{name: flag, type: bool}', { flag: 'false' }],
  ])('Every question about %s that is false has the right answer', async (_what, declared, params) => {
    expect(await answered(declared, params)).toEqual(WHEN_OFF)
  })

  test('Exports, actions, decisions, conditions of modules and functions see the text', async () => {
    const { recorder, errorMessage } = await runs.run(
      {
        'f.yaml': `kind: flow
name: f
params: [{name: given}]
modules:
  - name: first
    steps:
      - name: set
        type: bash
        command: echo true
        exports: {out: '{{trim(stdout)}}', said: stdout, called: 'trim(stdout)'}
        on_success: [{action: export, name: acted, value: 'true'}]
        decision:
          conditions:
            - {if: 'called == "true"', function: 'set_var("decided", "true")'}
            - {if: 'called == "false"', function: 'set_var("decided", "false")'}
      - {name: keeps, type: function, function: 'set_var("kept", given === "true" ? "a text" : "another")'}
  - name: second
    depends_on: [first]
    condition: 'acted == "true" && called == "true" && decided == "true" && given == "true"'
    steps: [{name: ran, type: bash, command: 'echo {{kept}}'}]
  - name: third
    depends_on: [first]
    condition: 'acted == "false" || called != "true"'
    steps: [{name: never, type: bash, command: echo no}]
`,
      },
      { params: { given: 'true' } },
    )
    expect(errorMessage).toBe('')
    const ended = recorder.steps.map(({ name, status, output }) => [name, status, output])
    expect(ended).toContainEqual(['ran', 'completed', 'a text\n'])
    expect(ended).toContainEqual(['never', 'skipped', ''])
  })
})
