import { describe, expect, test } from '@jest/globals'
import { useRuns } from './_execute.ts'

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
  ])('%s takes a value as one word and no code', async (expression) => {
    expect(await said(expression)).toBe(`<${HOSTILE}>`)
  })

  test('cut a param at blanks and leave the text of the author as it is', async () => {
    expect(await said(`exec_cmd("printf '<%s>' {{flags}}")`, { flags: "-a it's" })).toBe("<-a><it's>")
    expect(await said('exec_cmd({{code}})')).toBe('one\ntwo')
    expect(await said('exec_cmd("echo $(({{ 2 * 3 }} + 1))")')).toBe('7')
  })

  test('leave other functions and calls within them their values', async () => {
    expect(await said('"{{found}}" + exec_cmd("echo x") + len("{{found}}")')).toBe(
      `${HOSTILE}x${HOSTILE.length}`,
    )
    expect(await said('exec_cmd("printf %s " + len("{{found}}"))')).toBe(String(HOSTILE.length))
    expect(await said('save_content("{{found}}", "f") && exec_cmd("cat {{Output}}/f")')).toBe(HOSTILE)
  })

  test('fail where a value cannot be made safe', async () => {
    expect(await said('exec_cmd("echo $(( {{found}} ))")')).toMatch(/^failed: /)
  })
})
