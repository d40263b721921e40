/** The input of a scan. */
export interface Place {
  readonly host: string
  readonly port: number
  readonly report: string
  /** A file with 300 words. */
  readonly words: string
}

type Arguments = (place: Place) => string[]

/** How a tool is called. */
export interface Recipe {
  readonly port: 'http' | 'tls'
  /** Without a limit. */
  readonly scan: Arguments
  /** A scan that lasts longer than it is watched, of the port named `of`. */
  readonly long: { readonly of: 'slow' | 'silent' | 'tls'; readonly args: Arguments }
  /** A scan with a limit of 20 of them in a second. */
  readonly rate?: { readonly flag: string; readonly of: 'packets' | 'requests'; readonly args: Arguments }
}

export const RATE = 20

const words = (text: string): string[] => text.split(' ')
const url = ({ host, port }: Place): string => `http://${host}:${port}`

const ffuf =
  (...more: readonly string[]): Arguments =>
  (place) => ['-u', `${url(place)}/FUZZ`, '-w', place.words, '-of', 'json', '-o', place.report, ...more]
const gobuster =
  (...more: readonly string[]): Arguments =>
  (place) => ['dir', '-q', '-u', url(place), '-w', place.words, '-o', place.report, ...more]
const nmap =
  (...more: readonly string[]): Arguments =>
  ({ host, report }) => ['-n', '-Pn', '-oX', report, ...more, host]
const masscan =
  (...more: readonly string[]): Arguments =>
  ({ host, report }) => ['--wait', '2', '-oJ', report, ...more, host]
const testssl =
  (...more: readonly string[]): Arguments =>
  ({ host, port, report }) => [
    ...words('--quiet --color 0 --warnings off --ip one --jsonfile'),
    report,
    ...more,
    `${host}:${port}`,
  ]
const wapiti: Arguments = (place) => [
  ...words('-f json --flush-session --no-bugreport -u'),
  `${url(place)}/`,
  `--store-session=${place.report}.session`,
  `--store-config=${place.report}.config`,
  '--module=',
  `--output=${place.report}`,
]
const whatweb: Arguments = (place) => ['-a', '1', '--color=never', `--log-json=${place.report}`, url(place)]
const sslscan =
  (...more: readonly string[]): Arguments =>
  ({ host, port, report }) => [`--xml=${report}`, ...more, `${host}:${port}`]

export const RECIPES: Readonly<Record<string, Recipe>> = {
  ffuf: { port: 'http', scan: ffuf(), long: { of: 'slow', args: ffuf('-t', '2') } },
  gobuster: {
    port: 'http',
    scan: gobuster(),
    long: { of: 'slow', args: gobuster('-t', '2') },
    rate: {
      flag: '--threads 10 --delay 500ms',
      of: 'requests',
      args: gobuster('--threads', '10', '--delay', '500ms'),
    },
  },
  masscan: {
    port: 'http',
    scan: masscan('--rate', '1000', '-p', '80'),
    long: { of: 'slow', args: masscan('--rate', '100', '-p', '1-65535') },
    rate: { flag: '--rate', of: 'packets', args: masscan('--rate', `${RATE}`, '-p', '1000-1199') },
  },
  nmap: {
    port: 'http',
    scan: nmap('-sV', '-p', '80'),
    long: { of: 'slow', args: nmap('-sS', '-p-', '--max-rate', '50') },
    rate: {
      flag: '--max-rate',
      of: 'packets',
      args: nmap('-sS', '-p', '1000-1199', '--max-rate', `${RATE}`),
    },
  },
  sslscan: { port: 'tls', scan: sslscan(), long: { of: 'silent', args: sslscan('--timeout=60') } },
  testssl: { port: 'tls', scan: testssl('-p', '-S'), long: { of: 'tls', args: testssl() } },
  wapiti: { port: 'http', scan: wapiti, long: { of: 'slow', args: wapiti } },
  whatweb: { port: 'http', scan: whatweb, long: { of: 'silent', args: whatweb } },
}
