export interface SshAddress {
  readonly host: string
  readonly port?: number
  readonly user?: string
}

const ADDRESS =
  /^(?:(?<user>[^@\s]+)@)?(?:\[(?<v6>[0-9a-fA-F:.]+(?:%\w+)?)\]|(?<host>[^@\s:[\]]+))(?::(?<port>\d{1,5}))?$/
const HIGHEST_PORT = 65_535

/** Parses `user@host:port`, user and port optional, IPv6 in brackets. Throws an error that shows this form. */
export function parseSshAddress(text: string): SshAddress {
  const parts = ADDRESS.exec(text.trim())?.groups
  const port = parts?.['port'] === undefined ? undefined : Number(parts['port'])
  const host = parts?.['v6'] ?? parts?.['host']
  if (host === undefined || host.startsWith('-') || port === 0 || (port ?? 0) > HIGHEST_PORT)
    throw new Error(`"${text}" is not an ssh address; write user@host:port, user and port may be left out`)
  return { host, port, user: parts?.['user'] }
}

export function formatSshAddress({ user, host, port = 22 }: SshAddress): string {
  const place = host.includes(':') ? `[${host}]` : host
  return `${user === undefined ? '' : `${user}@`}${place}:${port}`
}
