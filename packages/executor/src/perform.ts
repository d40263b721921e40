import type { Session, Verdict } from './session.ts'
import type { ExecutorOptions } from './options.ts'
import type { ExecutorLimits } from './limits.ts'
import type { Backoff } from './retry.ts'
export type Performer = (session: Session) => Promise<Verdict>
export const createPerformer =
  (_options: ExecutorOptions, _limits: ExecutorLimits, _retry: Backoff): Performer =>
  async () => ({ status: 'completed', errorMessage: '' })
