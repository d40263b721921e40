// What a test gets for '@jest/globals': that package only works inside Jest's own module loader.
import type * as jestGlobals from '@jest/globals'

type Globals = Pick<
  typeof jestGlobals,
  'afterAll' | 'afterEach' | 'beforeAll' | 'beforeEach' | 'describe' | 'expect' | 'test'
>

/** Goes to what Jest has put there for the file that runs now: modules of a process are shared by its files. */
const current = <K extends keyof Globals>(name: K): Globals[K] => {
  const now = (): object => (globalThis as unknown as Globals)[name]
  return new Proxy(() => {}, {
    apply: (_, self, args): unknown => Reflect.apply(now() as () => unknown, self, args),
    get: (_, key): unknown => Reflect.get(now(), key),
  }) as unknown as Globals[K]
}

export const afterAll = current('afterAll')
export const afterEach = current('afterEach')
export const beforeAll = current('beforeAll')
export const beforeEach = current('beforeEach')
export const describe = current('describe')
export const expect = current('expect')
export const test = current('test')

export const jest = {
  /** Where Jest's own loader puts it. */
  setTimeout: (ms: number): void => {
    Object.assign(globalThis, { [Symbol.for('TEST_TIMEOUT_SYMBOL')]: ms })
  },
}
