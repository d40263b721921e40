import { describe, expect, test } from '@jest/globals'
import { needsTarget, resolveWorkflow } from '@scanfarm/language'
import { openLibrary } from '../../src/library/open-library.ts'

const asks = async (root: string, ...modules: string[]): Promise<boolean> => {
  const library = await openLibrary([])
  for (const [index, text] of modules.entries()) await library.put(`m${index + 1}.yaml`, text)
  await library.put('root.yaml', root)
  return needsTarget(resolveWorkflow(library, { name: 'root' }))
}

const module = (rest: string): string => `kind: module\nname: root\n${rest}`
const bash = (command: string, rest = ''): string =>
  module(`${rest}\nsteps:\n  - name: s\n    type: bash\n    command: ${JSON.stringify(command)}\n`)

describe('a workflow needs a target', () => {
  test.each([
    ['a command uses the target', bash('echo {{Target}}')],
    ['a command uses what is made of the target', bash('echo {{ TargetRootDomain }}')],
    ['a command uses the lower-case name', bash('echo {{target}}')],
    ['a command reads it from the environment', bash('echo "$SCANFARM_TARGET"')],
    [
      'an expression uses it',
      module('steps:\n  - {name: s, type: function, function: "log_info(Target)"}\n'),
    ],
    [
      'a command uses another name than that of its own target, which has a default',
      bash('echo {{ target }} {{ TargetHost }}', 'params: [{name: target, default: x}]'),
    ],
    [
      'a template names it after a variable of its own',
      bash('echo {{ target + Target }}', 'params: [{name: target, default: x}]'),
    ],
    ['it declares a required target', bash('id', 'params: [{name: target, required: true}]')],
    ['it depends on a type of target', bash('id', 'dependencies: {target_types: [domain]}')],
    [
      'it depends on the variable Target',
      bash('id', 'dependencies: {variables: [{name: Target, type: url}]}'),
    ],
  ])('when %s', async (_title, file) => {
    expect(await asks(file)).toBe(true)
  })

  test('when a module of the flow does', async () => {
    const flow = 'kind: flow\nname: root\nmodules:\n  - {name: one, path: m1.yaml}\n'
    const inner = 'kind: module\nname: m1\nsteps:\n  - {name: s, type: bash, command: "id {{Target}}"}\n'
    expect(await asks(flow, inner)).toBe(true)
  })
})

describe('a workflow needs no target', () => {
  test.each([
    ['when it only names the word', bash('echo target; echo "$Target" > {{Output}}/target.txt')],
    ['when it uses the name of the workspace', bash('echo {{TargetSpace}}')],
    ['when it says so', bash('echo {{Target}}', 'preferences: {empty_target: true}')],
    ['when its own target has a default', bash('echo {{target}}', 'params: [{name: target, default: x}]')],
    [
      'when a loop variable has the name',
      module(
        'steps:\n  - {name: s, type: foreach, input: a.txt, variable: target, step: {name: t, type: bash, command: "echo [[target]]"}}\n',
      ),
    ],
  ])('%s', async (_title, file) => {
    expect(await asks(file)).toBe(false)
  })
})
