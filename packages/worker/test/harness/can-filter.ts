import { execFileSync } from 'node:child_process'

const EGRESS = `table netdev t {
chain c {
type filter hook egress device "lo" priority 0; policy accept;
}
}
`

/** Whether this process may set rules here and in network namespaces. Needs SCANFARM_TEST_NFT and SCANFARM_TEST_NMAP. */
export const canFilter = ((): boolean => {
  try {
    execFileSync('nft', ['list', 'tables'], { stdio: 'ignore' })
    execFileSync('unshare', ['-n', 'nft', '-f', '-'], { input: EGRESS, stdio: ['pipe', 'ignore', 'ignore'] })
    return true
  } catch {
    return false
  }
})()

/** Whether it may also delay packets. Needs the kernel's module sch_htb. */
export const canDelay = ((): boolean => {
  try {
    const htb = ['tc', 'qdisc', 'add', 'dev', 'lo', 'root', 'htb']
    execFileSync('unshare', ['-nm', ...htb], { stdio: 'ignore' })
    return canFilter
  } catch {
    return false
  }
})()
