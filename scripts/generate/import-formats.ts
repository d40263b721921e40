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
  sarif: { reads: 'results of 2.1.0 ([fields](#sarif))', loses: 'code flows, graphs, attachments' },
  nuclei: {
    reads:
      'JSON lines, lists, and objects over several lines, of all versions; matchers and extractors of a template apart',
    loses: 'templates that did not match, lines of the log',
  },
  nmap: {
    reads:
      'XML (`-oX`): assets for hosts and open ports, services in TLS as `ssl/http`, the most likely system as a technology; findings for scripts that report VULNERABLE and for [weaknesses](#weaknesses-that-nmap-shows)',
    loses: 'closed ports, traces, lists of CVEs by version',
  },
  jsonl: { reads: 'all fields, one record per line or in a list', loses: '–' },
  whatweb: {
    reads:
      '`--log-json`: an asset of the type `http` for each answer, with status, title and technologies (`nginx:1.22.1`) and the identity that the lines of httpx have',
    loses: 'targets that did not answer (the report does not name them); `--log-json-verbose`',
  },
  sslscan: {
    reads:
      '`--xml`: findings like `sslscan-tls10` for old protocols, weak ciphers and certificates, Heartbleed, renegotiation and compression, with the severity that testssl gives; a port without TLS is an error',
    loses: 'strong ciphers, groups; chains of certificates',
  },
  testssl: {
    reads:
      '`--jsonfile`, `--jsonfile-pretty`: lines from LOW as findings like `testssl-BEAST`, with CVEs as tags, by address where a name has several; `scanProblem` and an interrupted scan are errors',
    loses: 'lines of the severities OK and INFO, client simulations, rating',
  },
  wapiti: {
    reads:
      '`-f json` from 3.0 on: findings like `wapiti-cross-site-scripting-q` by check (with its id in the OWASP guide, which outlasts names), page and parameter, header or cookie; additional information is info',
    loses: 'until 3.0 whether the server answered at all',
  },
  masscan: {
    reads:
      '`-oJ` (also of versions that end the list with a comma or `{finished: 1}`), `-oD`, `-oX`, `-oL`, `-oG`: ports with banners, one host with all its ports',
    loses: 'hosts that did not answer; the record of the host beyond 100,000 hosts',
  },
  ffuf: {
    reads:
      '`-of json`, `-of ejson`, several reports in one file: assets of the type `content` with status, length, words and lines',
    loses: 'requests that failed: only its log counts them',
  },
  dirsearch: {
    reads: '`-O json`: assets like those of ffuf',
    loses: 'a server that is gone: its report is empty',
  },
  gobuster: {
    reads:
      'JSON, and text of `dir` with `-e` or with its heading, else the host of a redirect: assets like those of ffuf',
    loses: 'modes dns, vhost and others',
  },
  zmap: { reads: "`-O json`: addresses, or ports with `-f '*'`", loses: 'addresses that refused' },
  sslyze: {
    reads: '`--json_out`: what sslscan finds, as `sslyze-tls10`, ROBOT, CCS injection',
    loses: 'strong ciphers, curves, headers, comparison with profiles',
  },
  gitleaks: {
    reads: '`-f json`: findings at `file:line`; severity high, since the tool names none; each commit apart',
    loses: '–',
  },
  gosec: {
    reads: '`-fmt json`: findings at `file:line`, by the text of the line; equal lines by their order',
    loses: 'suppressed issues',
  },
  'pip-audit': {
    reads:
      '`-f json`: findings of the type `package` at `file:name@version`, with CVEs as tags; severity medium, since the tool names none',
    loses: 'the file that names the package',
  },
  'npm-audit': {
    reads: '`--json` of npm 6 and newer, and of pnpm: findings like those of pip-audit',
    loses: 'packages that only depend on a vulnerable one; from npm 7 on the installed version',
  },
  'osv-scanner': {
    reads: '`--format json`: the same; one finding for the advisories of several databases',
    loses: 'licences, packages without findings',
  },
  trivy: {
    reads: '`-f json`: the same for vulnerabilities; misconfigurations and secrets at `file:line`',
    loses: 'licences, packages without findings',
  },
  grype: { reads: '`-o json`: the same', loses: 'ignored matches, details of the match' },
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
