import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { useRuns } from '../harness/runs.ts'

const { run, folder } = useRuns()

const module = (steps: string): string => `kind: module\nname: start\nsteps:\n${steps}`

test('commands, functions and relative paths of all step types start in the folder of the workspace', async () => {
  const { status, errorMessage, recorder, output } = await run(`
kind: module
name: start
hooks:
  pre_scan_steps: [{name: before, type: bash, command: "pwd > hook.txt"}]
steps:
  - {name: one, type: bash, command: "printf 'a\\nb\\n' > list.txt; pwd", std_file: std.txt}
  - {name: many, type: bash, commands: ["pwd", "cat list.txt"]}
  - {name: beside, type: bash, parallel_commands: ["pwd", "cat list.txt"]}
  - {name: lines, type: function, function: "file_length('list.txt')"}
  - {name: called, type: function, functions: ["exec_cmd('pwd; cat list.txt')", "exec_python('print(open(\\"list.txt\\").read())')"]}
  - name: each
    type: foreach
    input: list.txt
    variable: line
    step: {name: item, type: bash, command: "cat list.txt > [[line]].txt"}
  - name: branches
    type: parallel-steps
    parallel_steps: [{name: x, type: bash, command: "pwd > x.txt"}, {name: y, type: function, function: "append_file('y.txt', 'list.txt')"}]
`)
  expect({ status, errorMessage }).toEqual({ status: 'completed', errorMessage: '' })
  expect(recorder.byName('one').output).toBe(`${output}\n`)
  for (const name of ['many', 'beside']) expect(recorder.byName(name).output).toContain(`${output}\n`)
  expect(recorder.byName('lines').output).toBe('2\n')
  expect(recorder.byName('called').output).toBe(`${output}\na\nb\n`)
  for (const name of ['hook.txt', 'std.txt', 'x.txt'])
    expect(readFileSync(`${output}/${name}`, 'utf8')).toBe(`${output}\n`)
  for (const name of ['a.txt', 'b.txt', 'y.txt']) expect(existsSync(`${output}/${name}`)).toBe(true)
})

test('a command starts in the workspace even if the previous command has removed it', async () => {
  const { status, output } = await run(
    module(`
  - {name: clean, type: bash, command: "rm -rf '{{Output}}'"}
  - {name: work, type: bash, command: "pwd > here.txt"}
`),
  )
  expect(status).toBe('completed')
  expect(readFileSync(`${output}/here.txt`, 'utf8')).toBe(`${output}\n`)
})

test('two runs in one workspace find the files of each other by relative paths', async () => {
  const output = `${folder()}/shared`
  mkdirSync(output)
  writeFileSync(`${output}/seen.txt`, 'first\n')
  const { recorder } = await run(
    module(`  - {name: read, type: bash, command: "cat seen.txt"}
  - {name: same, type: function, function: "read_file('seen.txt')"}
`),
    { folders: { output, temp: `${output}/tmp` } },
  )
  expect(recorder.byName('read').output).toBe('first\n')
  expect(recorder.byName('same').output).toBe('first\n')
})
