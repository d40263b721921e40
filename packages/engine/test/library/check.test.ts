import { describe, expect, test } from '@jest/globals'
import { lint, renderProblems, type Problem } from '@scanfarm/language'
import { FUNCTIONS } from '@scanfarm/functions'

const short = (problems: readonly Problem[]): string[] =>
  problems.map(
    ({ line, column, severity, rule, hint }) =>
      `${line}:${column} ${severity} ${rule}${hint === '' ? '' : ` (${hint})`}`,
  )

const check = (text: string): string[] => short(lint(text, 'a.yaml', FUNCTIONS))

const steps = (text: string, more = ''): string[] => check(`kind: module\nname: m\n${more}steps:\n${text}`)

describe('the checker', () => {
  test('the checker reports all structural problems together, each with its position', () => {
    expect(
      check(`kind: modul
name: [x]
steps:
  - nam: a
    type: bsh
    timeout: {a: 1}
    suppress_details: maybe
`),
    ).toEqual([
      '1:7 error wrong-value (Did you mean "module"?)',
      '2:7 error wrong-type',
      '4:5 warning unknown-key (Did you mean "name"?)',
      '4:5 error missing-field',
      '5:11 error wrong-value (Did you mean "bash"?)',
      '6:14 error wrong-type',
      '7:23 error wrong-type',
    ])
  })

  test('the checker refuses to spread what cannot be spread', () => {
    const loop = (spread: string, inner: string) =>
      steps(`  - {name: a, type: foreach, input: x, variable: i, ${spread} step: ${inner}}\n`)
    const plain = '{type: bash, command: "echo [[i]]"}'
    for (const spread of ['true', '{batch: 10, workers: 2}', '{batch: auto}'])
      expect(loop(`spread: ${spread},`, plain)).toEqual([])
    expect(loop('spread: {batch: 0},', plain)).toEqual(['4:69 error wrong-form (For example: auto, 50)'])
    for (const call of ['db_import_vuln("w", "{}")', 'os_setenv("A", "b")'])
      expect(loop('spread: true,', `{type: function, function: '${call}'}`)).toEqual([
        '4:61 error wrong-value (Call it in a step after the loop, or remove spread.)',
      ])
    expect(
      loop(
        '',
        '{type: foreach, input: y, variable: j, spread: true, step: {type: bash, command: "echo [[j]]"}}',
      ),
    ).toEqual(['4:107 error wrong-value (Spread the outer loop, or move this one out.)'])
    expect(steps('  - {name: a, type: bash, command: b, spread: true}\n')).toEqual([
      '4:47 error wrong-value (Remove spread.)',
    ])
  })

  test('the checker reports invalid texts even if the structure is invalid', () => {
    expect(
      check(`kind: modul
name: m
params: [{default: x}]
steps:
  - {name: a, type: bsh, command: 'echo {{ a b }}', pre_condition: 'file_exist("x")'}
  - {type: function, function: 'log_info('}
  - {name: c, type: bash, comand: 'echo {{nothing}}'}
`),
    ).toEqual([
      '1:7 error wrong-value (Did you mean "module"?)',
      '3:10 error missing-field',
      '5:21 error wrong-value (Did you mean "bash"?)',
      '5:41 error template-syntax',
      '5:68 error unknown-function (Did you mean "file_exists"?)',
      '6:5 error missing-field',
      '6:32 error expression-syntax',
      '7:27 warning unknown-key (Did you mean "command"?)',
    ])
  })

  test('the checker reports empty names like missing ones', () => {
    expect(
      check(`kind: flow
name: f
modules:
  - {name: , path: a.yaml, depends_on: [b]}
  - {name: b, path: b.yaml, depends_on: [a]}
`),
    ).toEqual(['4:5 error missing-field'])
  })

  test('the checker reports the position of invalid YAML', () => {
    expect(check('kind: module\nname: x\nsteps:\n  - {name: a\n  - b: [\n')[0]).toMatch(
      /^\d:\d+ error parse-error/,
    )
    expect(check('kind: module\nname: x\nname: y\nsteps: []\n')).toEqual(['3:1 error parse-error'])
  })

  test('the checker refuses files that are not text, too large, too deep, or expand to too much', () => {
    expect(check('kind: module\nname: \0x\n')).toEqual(['1:1 error not-text'])
    expect(check(`kind: module\nname: x\ndescription: ${'x'.repeat(1 << 20)}\n`)).toEqual([
      '1:1 error too-big',
    ])
    // 10 lists of 10,001 values: one alias more than fits into 100,000 values.
    const list = `&l [${'x, '.repeat(9_999)}x]`
    expect(
      check(
        `kind: module\nname: x\nx-list: ${list}\nparams: [{name: p, default: [${'*l, '.repeat(9)}*l]}]\nsteps: []\n`,
      ),
    ).toContain('1:1 error too-big (Aliases that expand to many copies are refused.)')
    expect(
      check(
        `kind: module\nname: x\nparams: [{name: p, default: ${'['.repeat(65)}${']'.repeat(65)}}]\nsteps: []\n`,
      ),
    ).toEqual(['1:1 error too-big (Aliases that expand to many copies are refused.)'])
    const itself =
      'kind: module\nname: x\nparams: &p [{name: p, default: *p}]\nsteps: [{name: a, type: bash, command: x}]\n'
    expect(check(itself).length).toBeGreaterThan(0)
  })

  test('the checker accepts the lenient forms that existing files use', () => {
    expect(
      steps(
        `  - {name: a, type: bash, command: echo, on_error: continue, depends_on: b, timeout: 30, retry: 3}
  - {name: b, type: foreach, input: x, variable: v, threads: 5, step: {type: bash, command: "echo [[v]] {{_v_}} {{_id_}}"}}
  - {name: c, type: bash, command: 5, exports: {a: 1, b: true, c: 1.10}}
`,
        'tags: a, b\nhooks: {pre_scan_steps: [{command: echo}]}\nhidden: yes\n',
      ),
    ).toEqual([])
  })

  test('the checker only warns about problems that do not affect other parts of the workflow', () => {
    expect(
      check(`kind: flow
name: f
params: [{name: p, default: "1"}, {name: p, default: "2"}]
reports:
  - {name: r}
  - {name: s, path: x, type: spreadsheet}
triggers:
  - {name: t, on: schedule}
  - {name: u, on: cron}
  - {name: v, on: watch}
  - {name: w}
  - {name: x, on: event, event: {topic: a, dedupe_key: b, dedupe_window: soon}}
modules:
  - {name: a, path: a.yaml}
  - name: a
    steps: [{type: function, function: "1"}]
    on_error: [{if: x}, {action: retry}]
`),
    ).toEqual([
      '3:42 warning duplicate-param-name (The later one is used.)',
      '5:5 warning missing-field',
      '6:30 warning wrong-value',
      '8:19 warning wrong-value',
      '9:5 warning wrong-value (For example: 0 3 * * *)',
      '10:5 warning missing-required-field',
      '11:5 warning missing-field',
      '12:74 warning wrong-value (For example: 30s, 5m, 1h30m)',
      '15:11 warning duplicate-module-name (Only the later one runs.)',
      '17:16 warning missing-field',
      '17:17 warning unknown-key',
      '17:34 warning wrong-value',
    ])
  })

  test('the checker covers sub-agents, exports without calls, and inputs of triggers', () => {
    expect(
      steps(
        `  - name: a
    type: agent
    query: q
    agent_tools: [{name: own, handler: 'file_exist(args.x)'}]
    on_tool_end: 'log_info(tool_name + duration + error + nothing)'
    sub_agents:
      - {name: b, agent_tools: [bash], on_tool_start: 'log_info(tool_args)', sub_agents: [{name: c}, {name: c, agent_tools: [bash, bash]}]}
      - {name: b, stop_condition: 'contains(content, "x")'}
  - {name: e, type: bash, command: 'echo {{url}} {{file}}', exports: {x: 'file_lenght("a")', y: 'frobnicate(1)', z: 'Mozilla (X11)', w: 'parseInt("5")'}}
`,
        `triggers:
  - {on: event, event: {topic: t}, input: {url: event_data.url}}
  - {on: event, event: {topic: t}, input: {type: event_data, field: path, name: file}}
`,
      ),
    ).toEqual([
      '10:40 error unknown-function (Did you mean "file_exists"?)',
      '11:18 warning undefined-variable',
      '13:109 error duplicate-sub-agent-name',
      '13:132 error duplicate-tool-name',
      '14:16 error duplicate-sub-agent-name',
      '15:74 error unknown-function (Did you mean "file_length"?)',
      `15:97 error unknown-function (Write {{ "frobnicate(" }} for a literal text.)`,
    ])
  })

  test('the checker validates steps by their type', () => {
    expect(
      steps(`  - {name: a, type: bash}
  - {name: b, type: foreach, input: x, step: {type: http}}
  - {name: c, type: agent-sdk, sdk_config: {}}
  - {name: d, type: remote-bash, command: x, step_runner: host}
  - {name: e, type: agent, agent_tools: [bsh, {name: own}], queries: [q], query: q, max_iterations: 0}
  - {name: a, type: function, function: "1"}
`),
    ).toEqual([
      '4:5 error missing-required-field',
      '5:5 error missing-required-field',
      '5:46 error missing-required-field',
      '6:21 error unsupported-step-type (Use an agent step with a model of an OpenAI-compatible endpoint instead.)',
      '7:59 error wrong-value (Use a bash step.)',
      '8:5 error missing-required-field',
      '8:42 error wrong-value (Did you mean "bash"?)',
      '8:47 error missing-required-field',
      '8:101 error wrong-form',
      '9:12 warning duplicate-step-name (Both run; goto and depends_on mean the later one.)',
    ])
  })

  test('the checker validates depends_on and goto', () => {
    expect(
      steps(`  - {name: a, type: function, function: "1", depends_on: [c]}
  - {name: b, type: function, function: "1", depends_on: [a, d]}
  - {name: c, type: function, function: "1", depends_on: [a]}
  - {name: e, type: function, function: "1", decision: {switch: x, cases: {y: {goto: f}}, default: {goto: _end}}}
`),
    ).toEqual([
      '4:3 error circular-dependency',
      '5:62 error invalid-depends-on (Did you mean "a"?)',
      '7:56 warning goto-in-graph',
      '7:86 warning invalid-goto (Did you mean "a"?)',
    ])
  })

  test('the checker reports unknown names and functions, and values in unsafe positions', () => {
    expect(
      steps(
        `  - {name: a, type: bash, command: "echo {{Targt}} {{known}} {{x | uper}}", exports: {x: file_lenght("a"), y: "file_length(x)"}}
  - {name: b, type: function, functions: ['contans("a", b)', 'const z = [1].map(q => q + 1); z.length + parseInt("1") + len(z)']}
  - {name: c, type: bash, commands: ["echo \${{{known}}}", "echo \${x{{known}}}", "python3 -c 'print({{known}})'", 'sh -c "nmap {{Target}}"']}
  - {name: d, type: function, function: "len(("}
`,
        'params: [{name: known}, {name: other}]\n',
      ),
    ).toEqual([
      '3:25 info unused-variable',
      '5:36 warning undefined-variable (Did you mean "Target"?)',
      '5:36 error unknown-filter (Did you mean "upper"?)',
      '5:90 error unknown-function (Did you mean "file_length"?)',
      '6:43 error unknown-function (Did you mean "contains"?)',
      '6:43 warning undefined-variable (Did you mean "x"?)',
      '7:45 error template-syntax',
      '7:68 error unsafe-interpolation',
      "7:100 warning nested-code (Pass it as an argument, as in sh -c '… \"$1\"' sh {{x}} or python3 -c '…' {{x}}, or in an environment variable that the code reads.)",
      '8:41 error expression-syntax',
    ])
  })

  test('the checker warns where a value reaches an interpreter that it knows, also where it is not refused', () => {
    const warned = (command: string): boolean =>
      steps(`  - {name: a, type: bash, command: ${JSON.stringify(command)}}\n`).some((line) =>
        line.includes('warning nested-code'),
      )
    for (const code of [
      'echo {{Target}} | sh',
      'jq ".{{Target}}" f',
      'cat {{Target}} | sort | xargs -I% sh -c "echo %"',
      'psql -c "select {{Target}}"',
      'lua -e "print({{Target}})"',
      'echo {{Target}} | crontab -',
    ])
      expect([code, warned(code)]).toEqual([code, true])
    for (const plain of [
      'sh -c "nmap {{Target}}"',
      'ssh host nmap {{Target}}',
      'grep sh {{Target}}',
      'jq --arg t {{Target}} .a f',
    ])
      expect([plain, warned(plain)]).toEqual([plain, false])
  })

  test('the checker warns when a program is joined from values', () => {
    const joined = (expression: string): boolean =>
      steps(`  - {name: a, type: function, function: ${JSON.stringify(expression)}}\n`).some((line) =>
        line.includes('nested-code'),
      )
    for (const unsafe of [
      "exec_cmd('echo ' + Target)",
      'bash(`echo ${Target}`)',
      "ssh_exec('host', 'cat ' + [Output, 'x'].join('/'))",
      `exec_python("print('{{Target}}')")`,
      'execTs(`console.log("${Target}")`)',
    ])
      expect([unsafe, joined(unsafe)]).toEqual([unsafe, true])
    for (const safe of [
      'exec_cmd("echo {{Target}}")',
      'bash(`echo {{Target}}`)',
      "exec_cmd('echo ' + 'a longer text')",
      "ssh_exec('host-' + Target, 'uptime')",
      'print("+" + Target) && exec_cmd("uptime")',
      'exec_python("print(1 + 2)")',
    ])
      expect([safe, joined(safe)]).toEqual([safe, false])
  })

  test('the checker names the alternative to functions that always fail', () => {
    expect(
      steps(`  - {name: a, type: function, function: 'x = 1; db_select("select 1", "jsonl")'}
  - {name: b, type: function, function: 'skip("no")'}
  - {name: c, type: function, function: 'dbUpdate("assets", "id", "x", "y")'}
`),
    ).toEqual([
      '4:49 warning refused-function (Use db_select_assets_filtered or db_select_vulnerabilities_filtered, and jq on their JSONL.)',
      '6:42 warning refused-function (Use db_import_asset or db_import_vuln, which update an existing record.)',
    ])
  })

  test('the checker reports the line and column of unsupported template tags', () => {
    expect(
      steps(
        `  - name: a
    type: bash
    command: |
      echo {% if known %}deep{% else %}{{known}}{% endif %}
      echo {{Target}} {% for x in known %}{{x}}{% endfor %}
      cat {% include "other" %}
  - {name: b, type: bash, command: "echo '{{Target}}' {% macro m() %}"}
  - {name: c, type: bash, command: "echo {% if known %}x{% endif %}", pre_condition: "{% if known %}true{% endif %}"}
  - {name: d, type: bash, command: "echo {{Target}} {% if known %}"}
`,
        'params: [{name: known}]\n',
      ),
    ).toEqual([
      '10:11 error template-syntax',
      '11:55 error template-syntax',
      '12:42 warning template-tag (Use pre_condition, or a filter such as {{ x | default:"y" }} or {{ x | yesno:"a,b" }}.)',
      '12:86 warning undefined-variable',
      '12:87 warning template-tag (Use pre_condition, or a filter such as {{ x | default:"y" }} or {{ x | yesno:"a,b" }}.)',
      '13:53 error template-syntax',
    ])
  })

  test('the checker leaves names to the parent of a workflow, except those that are nearly defined here', () => {
    const child = (name: string) =>
      check(`kind: module
name: m
extends: base
override:
  params: {wordlist: short}
  steps: {steps: [{name: a, type: bash, command: 'echo {{${name}}}'}]}
`)
    expect(child('ofTheParent')).toEqual([])
    expect(child('wordlst')).toEqual(['6:50 warning undefined-variable (Did you mean "wordlist"?)'])
  })

  test('the checker knows what actions of modules export', () => {
    expect(
      check(`kind: flow
name: f
params: [{name: found, default: x}]
modules:
  - {name: a, path: b, on_success: [{action: export, name: founds, value: y}]}
  - {name: c, path: d, depends_on: [a], params: {one: '{{founds}} {{found}}'}}
`),
    ).toEqual([])
  })

  test('the checker knows all names that a script binds, in every form', () => {
    const scripts = [
      '[["a", 1]].filter(([, where]) => where > 0).length',
      '[{a: {b: 1}}].map(({a: {b: deep = 2}, ...rest}) => deep + len(rest))',
      'const [first, , ...others] = [1, 2, 3]; let {x: [y]} = {x: [4]}; first + len(others) + y',
      'for (const [i, v] of [[0, 1]]) { log_info(i + v) }',
      'function add(p, {q} = {}) { return p + q } add(1)',
      'try { len("a") } catch ({message: why}) { why }',
      '({key: 1, method() { return 2 }}).key',
    ]
    const text = (script: string) =>
      steps(`  - {name: a, type: function, function: ${JSON.stringify(script)}}\n`)
    expect(scripts.flatMap(text)).toEqual([])
    expect(text('[[1, 2]].filter(([, where]) => where > other).map(({a}) => a + wher)')).toEqual([
      '4:41 warning undefined-variable',
      '4:41 warning undefined-variable',
    ])
  })

  test('the checker validates durations, schedules, generators and target types', () => {
    expect(
      steps(
        `  - {name: a, type: bash, command: x, timeout: 5x, retry: {attempts: 0, delay: soon}}
`,
        `params: [{name: p, generator: "uuuid()"}]
dependencies: {target_types: [domian]}
triggers: [{on: cron, schedule: "* *"}, {on: watch}]
`,
      ).sort(),
    ).toEqual([
      '3:10 info unused-variable',
      '3:31 error wrong-value (Did you mean "uuid"?)',
      '4:31 error wrong-value (Did you mean "domain"?)',
      '5:33 warning wrong-value (For example: 0 3 * * *)',
      '5:41 warning missing-required-field',
      '7:48 error wrong-form (For example: 90, 30s, 5m, 1h30m, 2d)',
      '7:70 error wrong-form',
      '7:80 error wrong-form (For example: 500ms, 30s)',
    ])
  })

  test('the checker reports triggers that can never fire', () => {
    expect(
      steps(
        '  - {name: a, type: bash, command: x}\n',
        `triggers:
  - {on: cron, schedule: "99 3 * * *"}
  - {on: cron, schedule: "0 3 * * *", timezone: Mars}
  - {on: cron, schedule: "0 3 * * 1-5", timezone: Europe/Berlin}
  - {on: watch, path: "drop/*.txt"}
  - {on: watch, path: "/drop/*.txt"}
  - {on: cron, schedule: "0 3 * * 1#2"}
`,
      ),
    ).toEqual([
      '4:26 warning wrong-value (For example: 0 3 * * *)',
      '5:49 warning wrong-value',
      '7:23 warning wrong-value',
    ])
  })

  test('the checker reports the reason why a schedule is invalid', () => {
    const problems = lint(
      'kind: module\nname: x\nsteps: [{name: a, type: bash, command: x}]\ntriggers: [{on: cron, schedule: "@every 10s"}]\n',
      'x.yaml',
      FUNCTIONS,
    )
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('"10s" is no time from 1m'),
    ])
  })
})

describe('problems', () => {
  const problems = lint(
    'kind: module\nname: x\ndesc: "a"\nsteps: [{name: a, type: bash, comand: x}]\n',
    'dir/a,b.yaml',
    FUNCTIONS,
  )

  test('problems are formatted for the terminal', () => {
    expect(renderProblems(problems, 'text'))
      .toBe(`dir/a,b.yaml:3:1: warning: A workflow has no key "desc"; it is ignored. [unknown-key]
dir/a,b.yaml:4:9: error: step 'a': bash needs command or commands or parallel_commands [missing-required-field]
dir/a,b.yaml:4:31: warning: "step" has no key "comand"; it is ignored. [unknown-key]
    Did you mean "command"?`)
  })

  test('problems are written as annotations and as SARIF', () => {
    expect(renderProblems(problems, 'github').split('\n')[2]).toBe(
      '::warning file=dir/a%2Cb.yaml,line=4,col=31,title=unknown-key::"step" has no key "comand"; it is ignored. Did you mean "command"?',
    )
    const sarif = JSON.parse(renderProblems(problems, 'sarif', '1.2.3')) as {
      runs: { results: { level: string }[] }[]
    }
    expect(sarif.runs[0]?.results.map(({ level }) => level)).toEqual(['warning', 'error', 'warning'])
    expect(JSON.parse(renderProblems(problems, 'json'))).toEqual(problems)
  })
})
