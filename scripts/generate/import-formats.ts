import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { IMPORT_FORMATS, type ImportFormat } from '../../packages/findings/src/formats.ts'

const read = (name: string): unknown =>
  parse(readFileSync(new URL(`../reports/${name}`, import.meta.url), 'utf8'))
/** What `npm run reports` runs, and the versions whose reports it has compared. */
const TOOLS = read('tools.yaml') as Readonly<Record<string, { readonly skipped?: string }>>
const TRIED = read('tried.json') as Readonly<Record<string, string>>

const triedFor = (format: ImportFormat): string => {
  const tools = Object.keys(TOOLS).filter((name) => Object.hasOwn(TOOLS[name] ?? {}, format))
  const versions = tools
    .filter((name) => TRIED[name] !== undefined)
    .map((name) => (name === format ? TRIED[name] : `${name} ${TRIED[name]}`))
  const reasons = tools.flatMap((name) => TOOLS[name]?.skipped ?? [])
  if (format === 'jsonl') return 'Scanfarm'
  return versions.length > 0 ? versions.join(', ') : ['the documented structure only', ...reasons].join(': ')
}

interface Row {
  readonly reads: string
  readonly loses: string
}

const ROWS: Readonly<Record<ImportFormat, Row>> = {
  sarif: { reads: 'results of 2.1.0', loses: 'code flows, graphs, attachments' },
  nuclei: {
    reads: 'lines, lists and objects over several lines; matchers and extractors apart',
    loses: 'templates that did not match',
  },
  nmap: { reads: 'XML', loses: 'closed ports, traces, lists of CVEs by version' },
  jsonl: { reads: 'all fields, one record per line or in a list', loses: '–' },
  whatweb: {
    reads: '`--log-json`',
    loses: 'targets that did not answer (the report does not name them); `--log-json-verbose`',
  },
  sslscan: { reads: '`--xml`', loses: 'strong ciphers, groups; chains of certificates' },
  testssl: {
    reads: '`--jsonfile`, `--jsonfile-pretty`; findings by address where a name has several',
    loses: 'lines of the severities OK and INFO, client simulations, rating',
  },
  wapiti: {
    reads: '`-f json` from 3.0 on; checks by their id in the OWASP guide, which outlasts names',
    loses: 'until 3.0 whether the server answered at all',
  },
  masscan: {
    reads: '`-oJ`, `-oD`, `-oX`, `-oL`, `-oG`; one host with all ports, banners',
    loses: 'hosts that did not answer; the record of the host beyond 100,000 hosts',
  },
  ffuf: {
    reads: '`-of json`, `-of ejson`',
    loses: 'requests that failed: only its log counts them',
  },
  dirsearch: { reads: '`-O json`', loses: 'a server that is gone: its report is empty' },
  gobuster: {
    reads: 'text of `dir`, with `-e` or with its heading; else the host of a redirect',
    loses: 'modes dns, vhost and others',
  },
  zmap: { reads: "`-O json`; ports with `-f '*'`", loses: 'addresses that refused' },
  sslyze: {
    reads: '`--json_out`: what sslscan finds, ROBOT, CCS injection',
    loses: 'strong ciphers, curves, headers, comparison with profiles',
  },
  gitleaks: {
    reads: '`-f json`; severity high, since the tool names none; each commit apart',
    loses: '–',
  },
  gosec: {
    reads: '`-fmt json`; equal lines by their order',
    loses: 'suppressed issues',
  },
  'pip-audit': {
    reads: '`-f json`; severity medium, since the tool names none',
    loses: 'the file that names the package',
  },
  'npm-audit': {
    reads: '`--json` of npm 6 and newer, and of pnpm',
    loses: 'packages that only depend on a vulnerable one; from npm 7 on the installed version',
  },
  'osv-scanner': {
    reads: '`--format json`; one finding for the advisories of several databases',
    loses: 'licences, packages without findings',
  },
  trivy: {
    reads: '`-f json`: vulnerabilities, misconfigurations, secrets',
    loses: 'licences, packages without findings',
  },
  grype: { reads: '`-o json`', loses: 'ignored matches, details of the match' },
}

/** A table of the formats of imports. */
export const importFormats = (): string =>
  [
    '| format | version tried | read | lost |',
    '| --- | --- | --- | --- |',
    ...IMPORT_FORMATS.map((name) => {
      const { reads, loses } = ROWS[name]
      return `| \`${name}\` | ${triedFor(name)} | ${reads} | ${loses} |`
    }),
  ].join('\n')
