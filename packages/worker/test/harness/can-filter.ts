import { execFileSync } from 'node:child_process'

/** Whether this process may set rules here and in network namespaces. Needs SCANFARM_TEST_NFT and SCANFARM_TEST_NMAP. */
export const canFilter = ((): boolean => {
  try {
    execFileSync('nft', ['list', 'tables'], { stdio: 'ignore' })
    execFileSync('unshare', ['-n', 'nft', 'list', 'tables'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
