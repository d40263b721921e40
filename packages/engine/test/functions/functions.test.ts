import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import { NOTHING_IMPORTED, NOTHING_REPORTED } from '@scanfarm/contracts'
import { type FunctionServices, FUNCTION_GROUPS, FUNCTIONS } from '@scanfarm/functions'
import type { Json } from '@scanfarm/language'
import { useRuns, type Ran } from '../harness/runs.ts'

const { run, folder } = useRuns()

/** Evaluates expressions one after the other; the answer of each is the output of its step. */
const evaluate = async (
  expressions: readonly string[],
  files: Record<string, string> = {},
  services?: FunctionServices,
): Promise<{ answers: string[]; ran: Ran; output: string }> => {
  const output = join(folder(), `functions-${Math.random().toString(36).slice(2)}`)
  mkdirSync(output)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(output, name)), { recursive: true })
    writeFileSync(join(output, name), text)
  }
  const steps = expressions.map((expression, index) => ({
    name: `s${index}`,
    type: 'function',
    function: expression,
    on_error: [{ action: 'continue' }],
  }))
  const ran = await run(`kind: module\nname: main\nsteps: ${JSON.stringify(steps)}\n`, {
    folders: { output, temp: join(output, 'tmp') },
    ...(services === undefined ? {} : { services }),
  })
  return {
    answers: ran.recorder.steps.map(({ output: text, errorMessage }) => errorMessage || text.trim()),
    ran,
    output,
  }
}

const check = async (
  table: Record<string, string>,
  files: Record<string, string> = {},
  services?: FunctionServices,
) => {
  const { answers, output } = await evaluate(Object.keys(table), files, services)
  expect(Object.fromEntries(Object.keys(table).map((key, index) => [key, answers[index]]))).toEqual(table)
  return output
}

describe('events that functions emit', () => {
  test('events that functions emit have limited data and names', async () => {
    const { answers, ran } = await evaluate(
      [
        'generate_event("w", "custom.a", "s", "d", "x".repeat(70000))',
        'generate_event("w", "t".repeat(257), "s", "d", "x")',
        'generate_event("w", "custom.\\u0000", "s", "d", "x")',
        'generate_event("w", "custom.b", "s", "d".repeat(257), "x")',
        'generate_event_from_file("w", "custom.c", "s", "d", "large.txt")',
        'generate_event("w", "custom.fits", "s", "d", "x".repeat(60000))',
      ],
      { 'large.txt': `${'x'.repeat(70_000)}\n` },
    )
    expect(answers).toEqual([
      expect.stringContaining('the data of an event custom.a has 70012 bytes of JSON, more than 65536'),
      expect.stringContaining('the topic of an event has at most 256 characters'),
      expect.stringContaining('no control characters'),
      expect.stringContaining('the data type of an event has at most 256 characters'),
      expect.stringContaining('more than 65536'),
      'true',
    ])
    expect(ran.recorder.events.map(({ topic }) => topic)).toEqual(['custom.fits'])
  })

  test('events from one file are limited in number', async () => {
    const lines = `${'x'.repeat(60_000)}\n`.repeat(600)
    const { answers } = await evaluate(['generate_event_from_file("w", "custom.d", "s", "d", "many.txt")'], {
      'many.txt': lines,
    })
    expect(answers).toEqual([expect.stringContaining('more than 33554432 bytes of data')])
  })
})

describe('functions', () => {
  test('functions of JSON, CSV and tool output return the documented results', async () => {
    const nmap = `<?xml version="1.0"?><nmaprun><host><address addr="10.0.0.1" addrtype="ipv4"/><hostnames><hostname name="h.example.com"/></hostnames>
      <ports><port protocol="tcp" portid="22"><state state="open"/><service name="ssh" product="Open&amp;SSH" version="9" method="probed"/></port>
      <port protocol="tcp" portid="9000"><state state="open"/><service name="cslistener" method="table"/></port></ports></host></nmaprun>`
    const output = await check(
      {
        'jq_all("{\\"a\\":[1,2]}", ".a[]")': '[1,2]',
        'jq("{\\"a\\":{\\"b\\":\\"x\\"}}", ".a.b")': 'x',
        'jsonl_filter("rows.jsonl", "f.jsonl", "a,n.m,missing") && file_length("f.jsonl")': '3',
        'jq_all_from_file("f.jsonl", ".a").length': '3',
        'jsonl_unique("rows.jsonl", "u.jsonl", "a") && file_length("u.jsonl")': '2',
        'jsonl_rename_key("rows.jsonl", "r.jsonl", "a:alpha") && file_length("r.jsonl")': '3',
        'jsonl_to_csv("rows.jsonl", "rows.csv") && file_length("rows.csv")': '4',
        'csv_to_jsonl("rows.csv", "back.jsonl") && file_length("back.jsonl")': '3',
        'nmap_ports_to_jsonl("scan.xml", "ports.jsonl")': '2',
        'convert_jsonl_to_markdown("rows.jsonl", "rows.md")': 'true',
        'convert_sarif_to_markdown("s.sarif", "s.md")': 'true',
        'starts_with(convert_csv_to_markdown("rows.csv"), "| a | n |")': 'true',
        'render_markdown_report("tpl.md", "out.md")': 'true',
      },
      {
        'rows.jsonl': '{"a":1,"n":{"m":"x|<b>"}}\nnot json\n{"a":2}\n{"a":1,"n":{"m":"z, \\"q\\""}}\n',
        'scan.xml': nmap,
        's.sarif': JSON.stringify({
          runs: [
            {
              tool: {
                driver: { name: 'lint', rules: [{ id: 'R2', properties: { 'security-severity': '9.8' } }] },
              },
              results: [
                {
                  ruleId: 'R1',
                  level: 'error',
                  message: { text: 'bad | thing' },
                  locations: [
                    { physicalLocation: { artifactLocation: { uri: 'a.c' }, region: { startLine: 3 } } },
                  ],
                },
                { ruleId: 'R2', level: 'note', message: { text: 'worse' } },
                { ruleId: 'R3', message: { text: 'accepted' }, suppressions: [{ kind: 'inSource' }] },
              ],
            },
          ],
        }),
        'tpl.md':
          '# {{Target}}\n`file_length("rows.jsonl")`{.func}\n```func\n1 + 1\n```\n`no_such()`{.func}\n',
      },
    )
    const read = (name: string) => readFileSync(join(output, name), 'utf8')
    expect(read('f.jsonl')).toBe('{"a":1,"n.m":"x|<b>"}\n{"a":2}\n{"a":1,"n.m":"z, \\"q\\""}\n')
    expect(read('ports.jsonl')).toContain('"host":"h.example.com","ip":"10.0.0.1","port":22')
    const ports = read('ports.jsonl').trim().split('\n')
    expect(ports.map((line) => (JSON.parse(line) as { guessed?: boolean }).guessed)).toEqual([
      undefined,
      true,
    ])
    expect(read('rows.md')).toContain(String.raw`x\|\<b\>`)
    expect(read('s.md').split('\n').slice(6, -1)).toEqual([
      '| critical | `R2` | R2 | worse |',
      '| high | `a.c:3` | R1 | bad \\| thing |',
    ])
    expect(read('out.md')).toBe(
      "# example.com\n4\n2\n<!-- ERROR: ReferenceError: 'no_such' is not defined -->\n",
    )
  })

  test('functions evaluate the expressions of a report template, never those in the values of its variables', async () => {
    const { answers, output } = await evaluate(
      [
        'set_var("found", read_file("banner")) && 1',
        'render_markdown_report("tpl.md", "out.md")',
        'file_exists("canary")',
      ],
      {
        banner:
          '`save_content("x", "canary")`{.func}\n```func\nsave_content("y", "canary")\n```\n") + save_content("z", "canary") + ("',
        'tpl.md': '{{found}}\n`len("{{found}}")`{.func}\n`{{found}} == 2`{.func}\n',
      },
    )
    expect(answers.slice(1)).toEqual(['true', 'false'])
    const banner = readFileSync(join(output, 'banner'), 'utf8')
    expect(readFileSync(join(output, 'out.md'), 'utf8')).toBe(`${banner}\n${banner.length}\nfalse\n`)
  })

  test('functions of jq log errors of a filter, and return an error text if the value does not fit', async () => {
    const { answers, ran } = await evaluate(['jq("[]", "nope(")', 'jq("{\\"a\\":1}", ".a.b")'])
    expect(answers).toEqual(['', expect.stringMatching(/^error: Cannot index number/)])
    expect(ran.recorder.lines.join()).toContain('syntax error')
  })

  test('functions of addresses return the documented results', async () => {
    await check(
      {
        'parse_url("https://u:p@a.b.example.co.uk:8443/x/y.php?q=1#f", "%s|%u|%d|%S|%r|%t|%P|%p|%e|%q|%f|%a|%:%@%?%#%%")':
          'https|u:p|a.b.example.co.uk|a.b|example|co.uk|8443|/x/y.php|php|q=1|f|u:p@a.b.example.co.uk:8443|:@?#%',
        'get_parent_url("http://a/x/y")': 'http://a/x/',
        'query_replace("http://a/?x=1&y=2", "FUZZ")': 'http://a/?x=FUZZ&y=FUZZ',
        'path_replace("http://a/x/y", "Z")': 'http://a/Z/y',
        'parse_url_file_unique("urls", "%d", "hosts") && read_file("hosts")': 'a.example.com',
        'interesting_urls("urls", "good") && file_length("good")': '2',
        'is_url("http://a") && !is_url("a")': 'true',
        'get_ip("127.0.0.1")': '127.0.0.1',
        'is_repository("https://github.com/a/b")': 'true',
      },
      {
        urls: 'http://a.example.com/logo.png\nhttp://a.example.com/i.php?id=1\nhttp://a.example.com/i.php?id=2\nhttp://a.example.com/api/v1\n',
      },
    )
  })

  test('functions that run programs return their output and exit code', async () => {
    await check({
      'exec_cmd("echo out; echo err >&2")': 'err\nout',
      'exec_cmd("echo out; exit 3")': '',
      'command_exists("sh") && !command_exists("no-such-program")': 'true',
      'exec_python("print(6*7)")': '42',
      'os_setenv("FROM_STEP", "yes") && exec_cmd("echo $FROM_STEP")': 'yes',
      'zip_dir("nowhere", "x.zip")': 'false',
      'tmux_run("x", "bad name;")': '',
    }).catch((error: Error) => {
      // Not every machine has zip.
      if (!error.message.includes('zip')) throw error
    })
  })

  test('functions whose service is missing fail with its name', async () => {
    const { answers } = await evaluate([
      'db_import_asset("", "{}")',
      'notify_telegram("x")',
      'cdn_list()',
      'llm_invoke("x")',
      'run_module("a", "b")',
      'db_select("select 1", "jsonl")',
      'nix_install("x")',
    ])
    expect(answers).toEqual([
      expect.stringContaining('error: this function needs the database of a server; this run has none'),
      expect.stringMatching(/notifications are not set up[^]*false$/),
      expect.stringMatching(/object storage is not set up[^]*false$/),
      '',
      'run_module needs a server; this run has none',
      expect.stringContaining('error: '),
      'false',
    ])
  })

  test('functions that start a run refuse params that exceed the limits', async () => {
    const services: FunctionServices = { run: async () => ({}) }
    const { answers } = await evaluate(['run_flow("a", "b", "a b=c")'], {}, services)
    expect(answers).toEqual([expect.stringMatching(/^run_flow: the name of a param has 1 to 128 characters/)])
  })

  test('functions pass findings, messages and objects to their services', async () => {
    const seen: Json[] = []
    const stored = new Map<string, string>()
    const services: FunctionServices = {
      database: {
        importAssets: async (workspace, assets) => {
          seen.push([workspace, ...assets])
          return { ...NOTHING_IMPORTED, new: assets.length }
        },
        importVulnerabilities: async (_workspace, items) => {
          seen.push([...items])
          return { ...NOTHING_IMPORTED, updated: items.length, known: items.length }
        },
        importReport: async (workspace, format, report) => {
          if (report === undefined) return NOTHING_IMPORTED
          let text = ''
          for await (const chunk of report) text += Buffer.from(chunk).toString()
          seen.push([workspace, format ?? '', text])
          return { ...NOTHING_IMPORTED, new: 3, errors: 1, problems: [{ reason: 'cut', line: 7 }] }
        },
        assets: async () => [{ asset_value: 'a', asset_type: 'http' }],
        vulnerabilities: async (_workspace, filter) => [{ vuln_info: 'X', ...filter }],
        count: async (_workspace, counter, add) => (add === 'reset' ? 0 : add + counter.length),
        runStatus: async () => [],
        report: async () => NOTHING_REPORTED,
      },
      notify: {
        send: async ({ kind, channel, text, file, event }) => {
          seen.push({ kind, channel, text, file: file ?? '', event: event?.data ?? null })
        },
      },
      storage: {
        upload: async (file, key) => void stored.set(key, await file.readFile('utf8')),
        download: async (key, write) => await write(Readable.from([stored.get(key) ?? ''])),
        remove: async (key) => void stored.delete(key),
        stat: async (key) =>
          stored.has(key) ? { key, size: 1, modified: '2026-01-01T00:00:00Z' } : undefined,
        list: async (prefix) =>
          [...stored.keys()]
            .filter((key) => key.startsWith(prefix))
            .map((key) => ({ key, size: 1, modified: '' })),
        presign: async (key, minutes) => `https://store/${key}?m=${minutes}`,
      },
    }
    const output = await check(
      {
        'db_import_asset_from_file("", "httpx.jsonl").new': '2',
        'db_import_vuln_from_file("ws", "nuclei.jsonl").updated': '1',
        'db_import_sarif("ws", "report.sarif").total': '4',
        'db_import_sarif("ws", "empty").total': '0',
        'db_import_sarif("ws", "not-there").total': '0',
        'db_import_report("ws", "guess", "report.sarif").total': '4',
        'db_import_report("ws", "nmap", "empty").total': '0',
        'db_import_report("ws", "nmap", "not-there").total': '0',
        'db_total_urls("httpx.jsonl")': '6',
        'db_total_urls(0)': '0',
        'db_vuln_high("nuclei.jsonl")': '10',
        'db_select_vulnerabilities_filtered("", "high", "a", "jsonl")':
          '{"vuln_info":"X","severity":"high","asset_value":"a"}',
        'db_select_assets("", "markdown")': '| asset_value | asset_type |\n| --- | --- |\n| a | http |',
        'send_telegram_file("nuclei.jsonl")': 'true',
        'write_report("page.html") && file_contains("page.html", "Report of example.com")': 'true',
        'notify_webhook("hello")': 'true',
        'cdn_upload("nuclei.jsonl", "a/n.jsonl") && cdn_exists("a/n.jsonl") && cdn_read("a/n.jsonl") == read_file("nuclei.jsonl")':
          'true',
        'cdn_sync_upload("dir", "up")': '1',
        'cdn_ls_tree("", 3)': 'a/\n  n.jsonl\nup/\n  f',
        'cdn_get_presigned_url("k", 5)': 'https://store/k?m=5',
        'cdn_sync_download("up/", "down") && read_file("down/f")': 'F',
        'register_artifact("nuclei.jsonl") && generate_event("", "vuln.found", "x", "y", "{\\"a\\":1}")':
          'true',
        'generate_event_from_file("", "assets.new", "x", "y", "httpx.jsonl")': '2',
      },
      {
        'httpx.jsonl':
          '{"url":"http://a","host":"a","status_code":200,"tech":["nginx"],"webserver":"x"}\n{"url":"http://b","host":"b"}\n',
        'nuclei.jsonl':
          '{"template-id":"cve-1","info":{"name":"Bad","severity":"high","tags":["x"]},"matched-at":"http://a/x"}\n',
        'report.sarif': '{"runs":[]}',
        'dir/f': 'F',
        empty: '',
      },
      services,
    )
    expect(output).not.toBe('')
    expect(seen[0]).toEqual([
      'example.com',
      expect.objectContaining({ asset_value: 'a', url: 'http://a', status_code: 200 }),
      expect.anything(),
    ])
    expect(seen[1]).toEqual([
      {
        'template-id': 'cve-1',
        info: { name: 'Bad', severity: 'high', tags: ['x'] },
        'matched-at': 'http://a/x',
      },
    ])
    expect(seen[2]).toEqual(['ws', 'sarif', '{"runs":[]}'])
    expect(seen[3]).toEqual(['ws', '', '{"runs":[]}'])
  })
})

describe('the table of functions', () => {
  test('the function table lists every function once, with its arguments, result and description', () => {
    const all = FUNCTION_GROUPS.flatMap(({ functions }) => functions)
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
    for (const { name, doc, returns } of all) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/)
      expect(doc).toMatch(/[.?`]$|: /)
      expect(returns).not.toBe('')
    }
    expect(all.length).toBeGreaterThan(200)
    for (const alias of ['fileLength', 'isEmpty', 'createDir', 'appendFile', 'bash', 'cut'])
      expect(FUNCTIONS.has(alias)).toBe(true)
  })
})
