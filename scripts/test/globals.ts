// What a test gets for '@jest/globals': that package only works inside Jest's own module loader.
import type * as jestGlobals from '@jest/globals'

type Globals = Pick<
  typeof jestGlobals,
  'afterAll' | 'afterEach' | 'beforeAll' | 'beforeEach' | 'describe' | 'expect' | 'test'
>

export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } =
  globalThis as unknown as Globals

export const jest = {
  /** Where Jest's own loader puts it. */
  setTimeout: (ms: number): void => {
    Object.assign(globalThis, { [Symbol.for('TEST_TIMEOUT_SYMBOL')]: ms })
  },
}
