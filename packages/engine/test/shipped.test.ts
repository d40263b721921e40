import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { lintPaths } from '../src/lint/lint-paths.ts'
import { openLibrary } from '../src/library/open-library.ts'
import { requirements } from '../src/requirements.ts'
import { resolveWorkflow, type WorkflowLibrary } from '@scanfarm/language'
import { useRuns, WORKFLOWS } from './harness/runs.ts'

/** Fake tools, real as far as workflows use them: they check input, record arguments, and write output. */
const HEAD = `#!/bin/sh
[ "$*" != -version ] || { echo 'Current Version: v1.7.0'; exit; }
echo "\${0##*/} $*" >> "$CALLS"
out= list= xml= grep=
prev=
for arg in "$@"; do
  case $prev in -o) out=$arg ;; -l|-list|-iL|-w) list=$arg ;; -oX) xml=$arg ;; -oG) grep=$arg ;; esac
  prev=$arg
done
if [ -n "$list" ] && [ ! -r "$list" ]; then echo "no input $list" >&2; exit 2; fi
`
const TOOLS: Readonly<Record<string, string>> = {
  subfinder: `printf 'WWW.Example.com\\n*.example.com\\nevil.org\\napi.example.com\\n' > "$out"`,
  dnsx: `while read -r name; do printf '{"host":"%s","a":["127.0.0.1"],"status_code":"NOERROR"}\\n' "$name"; done < "$list" > "$out"`,
  httpx: `while read -r name; do case $name in *:22) ;; http*) printf '{"url":"%s","host":"h","status_code":200,"title":"a | b","webserver":"nginx","tech":["PHP"]}\\n' "$name" ;; *) printf '{"url":"https://%s","host":"%s","status_code":200}\\n' "$name" "$name" ;; esac; done < "$list" > "$out"`,
  nmap: `if [ "$grep" = - ]; then echo '# Ports scanned: TCP(3;22,80-81) UDP(0;) SCTP(0;) PROTOCOLS(0;)'; exit; fi
if [ -n "$grep" ]; then printf 'Host: 127.0.0.7 ()\\tStatus: Up\\nHost: 127.0.0.8 ()\\tStatus: Down\\n# Nmap done at x -- 256 IP addresses (1 host up)\\n' > "$grep"; exit; fi
{ echo '<nmaprun>'; while read -r host; do printf '<host><address addr="%s" addrtype="ipv4"/><ports><port protocol="tcp" portid="22"><state state="open" reason="syn-ack"/><service name="ssh" product="OpenSSH"/></port><port protocol="tcp" portid="8443"><state state="open" reason="syn-ack"/><service name="https"/></port></ports></host>' "$host"; done < "$list"; echo '<runstats><finished time="1" exit="success"/><hosts up="1" down="0" total="1"/></runstats></nmaprun>'; } > "$xml"`,
  katana: `while read -r url; do printf '%s/login.php?id=1\\n%s/logo.png\\n' "$url" "$url"; done < "$list" > "$out"`,
  ffuf: `printf '{"results":[{"url":"http://found/admin","status":200,"length":5}]}' > "$out"`,
  nuclei: `while read -r url; do printf '{"template-id":"t-1","info":{"name":"Bad <b>","severity":"high"},"matched-at":"%s"}\\n' "$url"; done < "$list" > "$out"`,
}

const { folder, runResolved } = useRuns(
  Object.fromEntries(Object.entries(TOOLS).map(([name, body]) => [name, `${HEAD}${body}\n`])),
)
let library: WorkflowLibrary
beforeAll(async () => {
  library = await openLibrary([WORKFLOWS])
})

const runFlow = async (
  name: string,
  target: string,
  params: Record<string, string> = {},
  limit: { readonly rate?: number; readonly env?: Record<string, string> } = {},
) => {
  const workflow = resolveWorkflow(library, { name, kind: 'flow' })
  const paths = [{ path: folder(), write: false }]
  const { recorder, read, output, status, errorMessage } = await runResolved(workflow, {
    target,
    params,
    paths,
    ...limit,
  })
  const bad = recorder.steps.filter(({ status }) => status === 'failed')
  expect(bad.map(({ name: step, errorMessage: why, output: text }) => ({ step, why, text }))).toEqual([])
  expect({ status, errorMessage }).toEqual({ status: 'completed', errorMessage: '' })
  expect(recorder.completed).toBe(recorder.total)
  return { recorder, read, output, calls: read('calls').trim().replaceAll(output, 'OUT').split('\n') }
}

describe('shipped workflows', () => {
  test('Lint reports no problem in a shipped workflow', async () => {
    const { files, problems } = await lintPaths([WORKFLOWS])
    expect(problems).toEqual([])
    expect(files).toBeGreaterThan(12)
  })

  test('Every shipped workflow can be resolved and has the requirements of its tools', () => {
    for (const { name, kind } of library.list()) resolveWorkflow(library, { name, kind })
    expect(requirements(resolveWorkflow(library, { name: 'domain' }))).toEqual(
      ['dnsx', 'httpx', 'katana', 'nmap', 'nuclei', 'subfinder'].map((tool) => `tool:${tool}`),
    )
  })

  test('The flow domain finds hosts, ports, web servers and vulnerabilities of a domain', async () => {
    const { calls, read, recorder } = await runFlow('domain', 'example.com', { with_ports: 'true' })
    expect(calls).toEqual([
      'subfinder -d example.com -silent -duc -all -o OUT/subdomains/found.txt',
      'dnsx -l OUT/subdomains/names.txt -silent -duc -json -a -aaaa -cname -resp -t 10 -o OUT/subdomains/dns.jsonl',
      'nmap -v -oG - --top-ports 1000',
      expect.stringMatching(
        /^nmap -n -Pn -sV -p 22,80-81,1883,[\d,]*6379,[\d,]*27017,[\d,]+ -T4 -iL OUT\/ports\/hosts.txt -oX OUT\/ports\/nmap.xml$/,
      ),
      'httpx -l OUT/web/input.txt -silent -duc -json -title -tech-detect -status-code -server -threads 10 -follow-host-redirects -o OUT/web/httpx.jsonl',
      expect.stringMatching(/^(katana -list|nuclei -l) /),
      expect.stringMatching(/^(katana -list|nuclei -l) /),
    ])
    expect(read('hosts.txt')).toBe('api.example.com\nexample.com\nwww.example.com\n')
    expect(read('urls.txt').split('\n')).toContain('https://api.example.com:8443')
    expect(read('links.txt')).toContain('/login.php?id=1')
    expect(read('links.txt')).not.toContain('logo.png')
    expect(read('summary.md')).toContain('## vulnerabilities')
    expect(read('summary.md')).toContain(String.raw`Bad \<b\>`)
    expect(recorder.artifacts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['hosts', 'ports', 'web', 'vulnerabilities', 'summary']),
    )
    // The database writes the events of findings, because it knows which findings are new.
    expect(recorder.events).toEqual([])
  })

  test('The flow host scans the ports that the caller chooses', async () => {
    const { calls, read } = await runFlow('host', '127.0.0.10', { ports: '-p 22,8443', severity: 'high' })
    expect(calls[0]).toBe('nmap -n -Pn -sV -p 22,8443 -T4 -iL OUT/ports/hosts.txt -oX OUT/ports/nmap.xml')
    expect(calls[2]).toContain(
      'nuclei -l OUT/vulnerabilities/input.txt -silent -jsonl -severity high -rate-limit 100',
    )
    expect(read('urls.txt')).toBe('https://127.0.0.10\nhttps://127.0.0.10:8443\n')
  })

  test('A limit reaches the tools behind all arguments of callers, and lowers a rate but never raises it', async () => {
    const env = { SCANFARM_ARGS_NMAP: '--max-rate 9', SCANFARM_ARGS_HTTPX: '-rate-limit 10' }
    const limited = await runFlow('host', '127.0.0.10', {}, { rate: 10, env })
    expect(limited.calls.slice(1)).toEqual([
      expect.stringContaining(' -T4 --max-rate 9 -iL '),
      expect.stringContaining(' -follow-host-redirects -rate-limit 10 -o '),
      expect.stringContaining(' -rate-limit 10 -o '),
    ])
    const { calls } = await runFlow('host', '127.0.0.10', {}, { rate: 1000 })
    expect(calls.at(-1)).toContain(' -rate-limit 100 -o ')
  })

  test('The flow cidr scans only hosts that respond', async () => {
    const { calls, read } = await runFlow('cidr', '192.0.2.0/24')
    expect(calls[0]).toBe('nmap -n -sn -T4 192.0.2.0/24 -oG OUT/hosts/ping.txt')
    expect(read('hosts.txt')).toBe('127.0.0.7\n')
    expect(read('ports/hosts.txt')).toBe('127.0.0.7\n')
  })

  test('The flow url accepts a URL with an ampersand', async () => {
    const words = join(folder(), 'words.txt')
    writeFileSync(words, 'admin\n')
    const { calls, read } = await runFlow('url', 'https://www.example.com/a?b=1&c=2', { wordlist: words })
    expect(read('web/input.txt')).toBe('https://www.example.com/a?b=1&c=2\n')
    expect(calls.filter((call) => call.startsWith('ffuf'))).toEqual([
      expect.stringContaining('ffuf -u https://www.example.com/a/FUZZ -w words.txt -t 10'),
    ])
    expect(read('content/words.txt')).toBe('admin\n')
    expect(read('content.jsonl')).toContain('http://found/admin')
  })

  test('The flow list reads its hosts from a file', async () => {
    const hosts = join(folder(), 'hosts.txt')
    writeFileSync(hosts, '# mine\nb.example.com\r\n\na.example.com\nb.example.com\n')
    const { read } = await runFlow('list', 'my-hosts', { list_file: hosts })
    expect(read('hosts.txt')).toBe('a.example.com\nb.example.com\n')
    expect(read('vulnerabilities.jsonl').trim().split('\n')).toHaveLength(2)
  })
})
