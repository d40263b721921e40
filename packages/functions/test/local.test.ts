import { describe, expect, test } from '@jest/globals'
import { sendsNothing } from '../src/index.ts'

describe('Expressions that send nothing', () => {
  test.each([
    'true',
    'log_info("4 hosts")\ndb_import_vuln("", "a.json")',
    'readFile("a").split("\\n").map((line) => trim(line))',
    'nmap_ports_to_jsonl("a.xml", "b.jsonl")',
  ])('%s', (code) => expect(sendsNothing(code)).toBe(true))

  test.each([
    'http_get("http://a.test")',
    'log_info("a"); httpGet("http://a.test")',
    'run_nmap("a.test", "80")',
    '["curl a.test"].map(exec_cmd)',
    'globalThis["exec" + "_cmd"]("curl a.test")',
    'render_markdown_report("a.md", "b.md")',
  ])('not %s', (code) => expect(sendsNothing(code)).toBe(false))
})
