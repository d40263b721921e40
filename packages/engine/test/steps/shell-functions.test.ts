import { describe, expect, test } from '@jest/globals'
import { useRuns } from '../harness/runs.ts'

const HOSTILE = `it's "q" $(echo INJECTED) \`echo INJECTED\`; echo INJECTED #`

describe('commands of functions', () => {
  const runs = useRuns()
  /** The last line that one expression prints, over a text that a step has brought. */
  const said = async (expression: string, params: Readonly<Record<string, string>> = {}): Promise<string> => {
    const { recorder } = await runs.run(
      `kind: module
name: m
params: [{name: flags}, {name: code, default: 'echo one; echo two'}]
steps:
  - {name: bring, type: function, function: ${JSON.stringify(JSON.stringify(HOSTILE))}, exports: {found: '{{result}}'}}
  - {name: say, type: function, function: ${JSON.stringify(expression)}}
`,
      { params },
    )
    const { status, output, errorMessage } = recorder.steps.at(-1) ?? { output: '' }
    return status === 'completed' ? output.trimEnd() : `${status}: ${errorMessage}`
  }

  test.each([
    [`exec_cmd("printf '<%s>' {{found}}")`],
    [`exec_cmd('printf "<%s>" "{{found}}"')`],
    [`exec_cmd("printf '<%s>' '{{found}}'")`],
    ['bash(`printf "<%s>" {{found}}`)'],
    [`execCmd(("printf '<%s>' " + "{{found}}").trim())`],
    [`[1].map(() => exec_cmd("printf '<%s>' {{found}}"))[0]`],
    [`exec_cmd("cat <<END\\n<{{found}}>\\nEND")`],
  ])('%s takes a value as one word and not as code', async (expression) => {
    expect(await said(expression)).toBe(`<${HOSTILE}>`)
  })

  test('commands of functions split a param at spaces and keep the text of the author unchanged', async () => {
    expect(await said(`exec_cmd("printf '<%s>' {{flags}}")`, { flags: "-a it's" })).toBe("<-a><it's>")
    expect(await said('exec_cmd({{code}})')).toBe('one\ntwo')
    expect(await said('exec_cmd("echo $(({{ 2 * 3 }} + 1))")')).toBe('7')
  })

  test('arguments of other functions and of nested calls keep their values', async () => {
    expect(await said('"{{found}}" + exec_cmd("echo x") + len("{{found}}")')).toBe(
      `${HOSTILE}x${HOSTILE.length}`,
    )
    expect(await said('exec_cmd("printf %s " + len("{{found}}"))')).toBe(String(HOSTILE.length))
    expect(await said('save_content("{{found}}", "f") && exec_cmd("cat {{Output}}/f")')).toBe(HOSTILE)
  })

  test('commands of functions fail where a value cannot be escaped', async () => {
    expect(await said('exec_cmd("echo $(( {{found}} ))")')).toMatch(/^failed: /)
  })

  test.each([
    ['exec_cmd("printf %s " + found)'],
    ['bash(`printf %s ${found}`)'],
    ['const c = "printf %s " + found; exec_cmd(c)'],
    ['exec_cmd(found)'],
    ['exec_cmd(found.trim())'],
    ['exec_cmd("echo \'" + get_var("found") + "\'")'],
    ['exec_cmd("echo {{found}} | sh")'],
    ['exec_python("print({{found}})")'],
    ['exec_python(found)'],
    ['sed_string_replace("s/a/{{found}}/", "{{Output}}/a", "{{Output}}/b")'],
  ])('%s is refused: a value would be code', async (expression) => {
    expect(await said(expression)).toMatch(/^failed: .*becomes code in/)
  })

  test.each([
    ['exec_cmd("echo " + 3 * 2)', '6'],
    ['exec_cmd("echo " + len(found))', String(HOSTILE.length)],
    ['exec_cmd(len(found) > 3 ? "echo a b" : "echo c d")', 'a b'],
    ['const c = ["echo", "x y"].join(" "); exec_cmd(c)', 'x y'],
    ['exec_cmd(code)', 'one\ntwo'],
    ['os_setenv("A", found) && exec_cmd("printf %s \\"$A\\"")', HOSTILE],
    ['os_setenv("A", "echo x; echo y") && exec_cmd("eval \\"$A\\"")', 'x\ny'],
    [
      'save_content("#!/bin/sh\\necho \\"$1\\"", "{{Output}}/x.sh") && exec_cmd("sh {{Output}}/x.sh {{found}}")',
      HOSTILE,
    ],
  ])('%s is accepted: the author wrote the code, and values stay values', async (expression, expected) => {
    expect(await said(expression)).toBe(expected)
  })
})
