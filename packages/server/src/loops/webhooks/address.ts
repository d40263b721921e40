import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'

/** Nothing of the public internet is there: own networks, the cloud's metadata service, documentation, multicast. */
const PRIVATE_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const
/** Within the global range; the rest of IPv6 is not public at all. Some of these carry an IPv4 address inside. */
const PRIVATE_V6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const blocked = new BlockList()
for (const [network, prefix] of PRIVATE_V4) blocked.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of PRIVATE_V6) blocked.addSubnet(network, prefix, 'ipv6')
const globalV6 = new BlockList()
globalV6.addSubnet('2000::', 3, 'ipv6')

/** Whether an IP address is reachable for everybody. */
export const isPublic = (address: string): boolean => {
  const version = isIP(address)
  if (version === 4) return !blocked.check(address, 'ipv4')
  return version === 6 && globalV6.check(address, 'ipv6') && !blocked.check(address, 'ipv6')
}

/**
 * The address to connect to. Rejects when any address of the host is private: one who may choose the answer of the
 * name service must not reach the inside by trying again.
 */
export async function addressOf(
  host: string,
  allowPrivate: boolean,
): Promise<{ address: string; family: number }> {
  const name = host.replace(/^\[|\]$/g, '')
  const found = isIP(name) === 0 ? await lookup(name, { all: true }) : [{ address: name, family: isIP(name) }]
  const hidden = allowPrivate ? undefined : found.find(({ address }) => !isPublic(address))
  if (hidden !== undefined)
    throw new Error(
      `${host} is the private address ${hidden.address}; set webhooks.allow_private to permit that`,
    )
  const [first] = found
  if (first === undefined) throw new Error(`${host} has no address`)
  return first
}
