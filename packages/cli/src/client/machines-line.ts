import type { CloudInfra } from '@scanfarm/contracts'

const ORDER = ['requested', 'booting', 'ready', 'destroying', 'destroyed', 'failed'] as const

/** How the machines of an infrastructure are, in one line. */
export const machinesLine = ({
  status,
  message,
  details,
}: Pick<CloudInfra, 'status' | 'message' | 'details'>) => {
  const counts = ORDER.flatMap((word) => {
    const count = details.filter((machine) => machine.status === word).length
    return count === 0 ? [] : [`${count} ${word}`]
  })
  const machines = details.length === 1 ? 'machine' : 'machines'
  return `${details.length} ${machines} ${status}: ${counts.join(', ')}${message === '' ? '' : ` (${message})`}`
}
