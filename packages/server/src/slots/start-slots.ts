import type { ServerContext } from '../context.ts'
import { startCloudSlots } from './cloud-slots.ts'
import { startLocalSlots } from './local-slots.ts'

/** All slots of this server. Disposing drains them at the same time. */
export async function startSlots(context: ServerContext): Promise<AsyncDisposable> {
  await using scope = new AsyncDisposableStack()
  const slots: AsyncDisposable[] = []
  for (const start of [startLocalSlots, startCloudSlots]) {
    const some = scope.use(await start(context))
    if (some !== undefined) slots.push(some)
  }
  scope.move()
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(slots.map(async (some) => await some[Symbol.asyncDispose]()))
    },
  }
}
