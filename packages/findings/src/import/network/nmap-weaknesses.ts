import { asText, at } from '../../fields.ts'
import { RULES, type Rule, type Weakness } from './nmap-rules.ts'

/** Services that are weak as such. */
const SERVICES: Readonly<Record<string, Weakness>> = {
  telnet: {
    severity: 'medium',
    title: 'Telnet service',
    why: 'Passwords and sessions are readable by hosts on the way.',
  },
  login: {
    severity: 'medium',
    title: 'rlogin service',
    why: 'Sessions are readable by hosts on the way, and clients name their user.',
  },
  shell: {
    severity: 'medium',
    title: 'rsh service',
    why: 'Sessions are readable by hosts on the way, and clients name their user.',
  },
}

const EXPIRED: Weakness = {
  severity: 'medium',
  title: 'The certificate has expired',
  why: 'Clients refuse it, or have to be told to accept any certificate.',
}

/** nmap prints the failure of a script as its output. */
export const isFailure = (output: string): boolean => /^\s*ERROR:/.test(output)

/** The weakness that the result of a script proves. The time of the scan decides whether a certificate has expired. */
export const scriptWeakness = (script: unknown, time: Date): Weakness | undefined => {
  const id = asText(at(script, 'id'))
  const output = asText(at(script, 'output'))
  if (id === 'ssl-cert') return isExpired(output, time) ? EXPIRED : undefined
  return Object.hasOwn(RULES, id) ? RULES[id]?.find(({ pattern }) => pattern.test(output)) : undefined
}

const isExpired = (output: string, time: Date): boolean => {
  const [, end = ''] = /Not valid after:\s*([\dT:.-]+)/.exec(output) ?? []
  return new Date(`${end}Z`) < time
}

/** The weakness of an open service without encryption. */
export const serviceWeakness = (service: unknown): Weakness | undefined => {
  const name = asText(at(service, 'name'))
  const isEncrypted = asText(at(service, 'tunnel')) !== ''
  return isEncrypted || !Object.hasOwn(SERVICES, name) ? undefined : SERVICES[name]
}

/** What http-enum says about a path that is served. */
const ENTRIES: readonly Rule[] = [
  {
    pattern:
      /CVE|traversal|disclosure|code execution|authentication bypass|inclusion|vulnerab|exposure|password reset/i,
    severity: 'high',
    title: 'Known weakness of a web application',
    why: 'The script recognises the application by its response; the description names the weakness.',
  },
  {
    pattern: /^(possible |potential )?(git|subversion|svn|mercurial|bazaar|cvs|code)\b.*(folder|repository)/i,
    severity: 'medium',
    title: 'Files of version control are served',
    why: 'The source code is readable.',
  },
  {
    pattern: /backup|\.htpasswd|password|config(uration)? file/i,
    severity: 'medium',
    title: 'Backup or file with settings is served',
    why: 'Such files contain passwords.',
  },
  {
    pattern: /directory listing|w\/ listing/i,
    severity: 'low',
    title: 'Folder listing',
    why: 'Names of files that no page links to are readable.',
  },
  {
    pattern: /console|phpMyAdmin|information file|status page/i,
    severity: 'low',
    title: 'Page for administrators is served',
    why: 'It describes the server, or leads to its login.',
  },
]

interface Entry {
  readonly path: string
  /** What the script says about it. */
  readonly text: string
  readonly weakness: Weakness
}

/** The paths that http-enum found and that are weaknesses. It adds the status of a page unless that is 200. */
export const enumWeaknesses = (output: string): Entry[] =>
  output.split('\n').flatMap((line) => {
    const [, path = '', text = ''] = /^\s*(\/\S*): (.*\S)/.exec(line) ?? []
    const isServed = path !== '' && !/\((?:3\d\d|4\d\d|5\d\d) [^)]*\)$/.test(text)
    const weakness = isServed ? ENTRIES.find(({ pattern }) => pattern.test(text)) : undefined
    return weakness === undefined ? [] : [{ path, text, weakness }]
  })
