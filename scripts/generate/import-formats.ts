import { IMPORT_FORMATS, type ImportFormat } from '../../packages/findings/src/formats.ts'

interface Row {
  /** Versions whose reports were made and imported; `structure`: only the documented structure was read. */
  readonly tried: string
  readonly reads: string
  readonly loses: string
}

const ROWS: Readonly<Record<ImportFormat, Row>> = {
  sarif: { tried: 'see above', reads: 'results of 2.1.0', loses: 'code flows, graphs, attachments' },
  nuclei: {
    tried: 'structure of 1 to 3',
    reads: 'lines, lists and objects over several lines; matchers and extractors apart',
    loses: 'templates that did not match',
  },
  nmap: { tried: '7.93', reads: 'XML', loses: 'closed ports, traces, lists of CVEs by version' },
  jsonl: { tried: 'Scanfarm', reads: 'all fields, one record per line or in a list', loses: '–' },
  whatweb: {
    tried: '0.5.5',
    reads: '`--log-json`',
    loses: 'targets that did not answer (the report does not name them); `--log-json-verbose`',
  },
  sslscan: { tried: '2.0.7', reads: '`--xml`', loses: 'strong ciphers, groups; chains of certificates' },
  testssl: {
    tried: '3.0.8',
    reads: '`--jsonfile`, `--jsonfile-pretty`; findings by address where a name has several',
    loses: 'lines of the severities OK and INFO, client simulations, rating',
  },
  wapiti: {
    tried: '3.0.4, 3.2.3',
    reads: '`-f json`; checks by their id in the OWASP guide, which outlasts names',
    loses: 'until 3.0 whether the server answered at all',
  },
  masscan: {
    tried: '1.3.2 (banners: structure)',
    reads: '`-oJ`, `-oD`, `-oX`, `-oL`, `-oG`; one host with all ports, banners',
    loses: 'hosts that did not answer; the record of the host beyond 100,000 hosts',
  },
  ffuf: {
    tried: '1.1.0',
    reads: '`-of json`, `-of ejson`',
    loses: 'requests that failed: only its log counts them',
  },
  dirsearch: { tried: '0.5.0', reads: '`-O json`', loses: 'a server that is gone: its report is empty' },
  gobuster: {
    tried: '3.5',
    reads: 'text of `dir`, with `-e` or with its heading; else the host of a redirect',
    loses: 'modes dns, vhost and others',
  },
  zmap: { tried: '2.1.1', reads: "`-O json`; ports with `-f '*'`", loses: 'addresses that refused' },
  sslyze: {
    tried: '6.3.1',
    reads: '`--json_out`: what sslscan finds, ROBOT, CCS injection',
    loses: 'strong ciphers, curves, headers, comparison with profiles',
  },
  gitleaks: {
    tried: '8 (go install)',
    reads: '`-f json`; severity high, since the tool names none; each commit apart',
    loses: '–',
  },
  gosec: {
    tried: '2 (go install)',
    reads: '`-fmt json`; equal lines by their order',
    loses: 'suppressed issues',
  },
  'pip-audit': {
    tried: '2.10.1 (without advisories)',
    reads: '`-f json`; severity medium, since the tool names none',
    loses: 'the file that names the package',
  },
  'npm-audit': {
    tried: 'npm 10 (without advisories)',
    reads: '`--json` of npm 6 and newer, and of pnpm',
    loses: 'packages that only depend on a vulnerable one; from npm 7 on the installed version',
  },
  'osv-scanner': {
    tried: 'structure',
    reads: '`--format json`; one finding for the advisories of several databases',
    loses: 'licences, packages without findings',
  },
  trivy: {
    tried: 'structure',
    reads: '`-f json`: vulnerabilities, misconfigurations, secrets',
    loses: 'licences, packages without findings',
  },
  grype: { tried: 'structure', reads: '`-o json`', loses: 'ignored matches, details of the match' },
}

/** A table of the formats of imports. */
export const importFormats = (): string =>
  [
    '| format | version tried | read | lost |',
    '| --- | --- | --- | --- |',
    ...IMPORT_FORMATS.map((name) => {
      const { tried, reads, loses } = ROWS[name]
      return `| \`${name}\` | ${tried} | ${reads} | ${loses} |`
    }),
  ].join('\n')
