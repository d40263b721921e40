import { afterAll, beforeAll } from '@jest/globals'

/** Opens a resource before the tests of a file and disposes of it after them. The returned object stands for it. */
export const forAllTests = <T extends AsyncDisposable>(open: () => Promise<T>): T => {
  let opened: T | undefined
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(async () => await opened?.[Symbol.asyncDispose]())
  return new Proxy({} as T, {
    get: (_, name) => {
      if (opened === undefined) throw new Error('it is opened when the tests begin')
      const value: unknown = Reflect.get(opened, name, opened)
      return typeof value === 'function' ? (value.bind(opened) as unknown) : value
    },
    set: (_, name, value) => opened !== undefined && Reflect.set(opened, name, value, opened),
  })
}
