import { multirangeOf } from '@scanfarm/findings'

/** `80,1000-2000`, behind the host and before `/udp`. */
const PORT_LIST = /^(.+):(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)(\/udp)?$/

/** The host and its ports, as in `h:80,1000-2000`. A single port stays a part of the place. */
export const portsOfLocation = (place: string): { readonly place: string; readonly ports?: string } => {
  const [, host = '', list = '', protocol = ''] = PORT_LIST.exec(place) ?? []
  if (!/[,-]/.test(list) || place.includes('://')) return { place }
  const ranges = list.split(',').map((range) => {
    const [first, last = first] = range.split('-').map(Number)
    return [first ?? 0, last ?? 0] as const
  })
  if (ranges.some(([first, last]) => first > last || last > 65_535)) return { place }
  return {
    place: `${host}${protocol}`,
    ports: multirangeOf(list),
  }
}
