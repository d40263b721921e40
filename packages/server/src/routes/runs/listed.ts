import { withoutPassword, withoutPasswords, type Run } from '@scanfarm/contracts'

/** Passwords in targets and params are only shown by the run itself. */
export const listed = <R extends Pick<Run, 'target' | 'params'>>(run: R): R => ({
  ...run,
  target: withoutPassword(run.target),
  params: withoutPasswords(run.params),
})
