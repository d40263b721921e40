import type { ClaimedRun } from '@scanfarm/contracts'
import { boundVariables } from '@scanfarm/tools'
import type { RunFolders } from '../workspaces/work-folders.ts'

export const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * The environment of commands on this machine. Of the environment of this process, which holds secrets, it contains only
 * what the operator passes on. Programs may read the target here; workflows interpolate it with shell escaping.
 */
export const environmentOf = (
  run: ClaimedRun,
  folders: RunFolders,
  path: string,
  {
    home = folders.attempt,
    operatorEnv = {},
    rate = null,
  }: {
    home?: string | undefined
    operatorEnv?: Readonly<Record<string, string>> | undefined
    /** Connections or requests a second that the run may send. */
    rate?: number | null
  },
): Readonly<Record<string, string>> => ({
  LANG: 'C.UTF-8',
  ...operatorEnv,
  PATH: path,
  HOME: home,
  TMPDIR: folders.attempt,
  SCANFARM_RUN_ID: String(run.runId),
  SCANFARM_RUN_UUID: run.runUuid,
  SCANFARM_ATTEMPT: String(run.attempt),
  SCANFARM_JOB_ID: run.jobId,
  SCANFARM_WORKFLOW: run.workflowName,
  SCANFARM_WORKSPACE: run.workspace,
  SCANFARM_OUTPUT: folders.workspace,
  SCANFARM_TARGET: run.target,
  ...boundVariables({ rate }),
})
