/** Ports from the first to the last. */
export type PortRange = readonly [number, number]

const MAX_PORT = 65_535

/** Ports like `443` or `80,8000-9000`; undefined if they are none. */
export const readPorts = (text: string): readonly PortRange[] | undefined => {
  const ranges = text.split(',').map((one): PortRange => {
    const [, from = '0', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(one) ?? []
    return [Number(from), Number(to)]
  })
  return ranges.every(([from, to]) => from >= 1 && from <= to && to <= MAX_PORT) ? ranges : undefined
}

/** Undefined ports are all ports. */
export const shareAPort = (entry: readonly PortRange[] | undefined, target: number | undefined): boolean =>
  entry === undefined || target === undefined || entry.some(([from, to]) => from <= target && target <= to)

/** Whether the entry has all ports of the target. */
export const hasPorts = (entry: readonly PortRange[] | undefined, target: number | undefined): boolean =>
  entry === undefined ||
  (target === undefined
    ? entry.some(([from, to]) => from === 1 && to === MAX_PORT)
    : shareAPort(entry, target))

const SCHEME_PORTS: Readonly<Record<string, number>> = {
  http: 80,
  ws: 80,
  https: 443,
  wss: 443,
  ftp: 21,
  ssh: 22,
  git: 9418,
}

/** The port that a URL without one means. */
export const portOfScheme = (scheme: string): number | undefined =>
  Object.hasOwn(SCHEME_PORTS, scheme) ? SCHEME_PORTS[scheme] : undefined
