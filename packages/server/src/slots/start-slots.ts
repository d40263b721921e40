import type { ServerContext } from '../context.ts'
import { startCloudSlots } from './cloud-slots.ts'
import { startLocalSlots } from './local-slots.ts'

/** All slots of this server. Disposing drains them at the same time. */
export async function startSlots(context: ServerContext): Promise<AsyncDisposable> {
  await using scope = new AsyncDisposableStack()
  const slots = [scope.use(await startLocalSlots(context)), scope.use(await startCloudSlots(context))]
  scope.move()
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(slots.map((some) => some?.[Symbol.asyncDispose]()))
    },
  }
}
