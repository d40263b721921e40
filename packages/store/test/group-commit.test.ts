import { describe, expect, test } from '@jest/globals'
import { groupCommit } from '../src/run-store/group-commit.ts'

/** A group commit whose statements end when the test ends them. */
const controlled = (maxItems = 100, most = Infinity) => {
  const statements: { items: readonly string[]; done: () => void; fail: (error: Error) => void }[] = []
  const call = groupCommit<string, string>({
    send: (items) => {
      const { promise, resolve, reject } = Promise.withResolvers<string[]>()
      statements.push({ items, done: () => resolve(items.map((item) => `${item}!`)), fail: reject })
      return promise
    },
    keyOfItem: (item) => item,
    keyOfResult: (result) => result.slice(0, -1),
    maxItems,
    size: { of: (item) => item.length, most },
  })
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { call, statements, turn }
}

describe('group commit', () => {
  test('Calls during a statement share the next one, and each gets its own results', async () => {
    const { call, statements, turn } = controlled()
    const first = call(['a'])
    const second = call(['b', 'c'])
    const third = call(['d'])
    expect(statements.map((statement) => statement.items)).toEqual([['a']])
    statements[0]?.done()
    expect(await first).toEqual(['a!'])
    await turn()
    expect(statements[1]?.items).toEqual(['b', 'c', 'd'])
    statements[1]?.done()
    expect(await second).toEqual(['b!', 'c!'])
    expect(await third).toEqual(['d!'])
    const later = call(['e'])
    statements[2]?.done()
    expect(await later).toEqual(['e!'])
  })

  test('A statement has a limited number of items and no key twice', async () => {
    const { call, statements, turn } = controlled(3)
    const calls = [call(['a']), call(['b', 'c']), call(['b']), call(['d', 'e', 'f', 'g']), call(['h'])]
    for (let n = 0; n < 5; n++) {
      await turn()
      statements[n]?.done()
    }
    await Promise.all(calls)
    expect(statements.map((statement) => statement.items)).toEqual([
      ['a'],
      ['b', 'c'],
      ['b'],
      ['d', 'e', 'f', 'g'],
      ['h'],
    ])
  })

  test('A statement has a limited size unless a single call is larger', async () => {
    const { call, statements, turn } = controlled(100, 4)
    const calls = [call(['a']), call(['bb']), call(['cc']), call(['d']), call(['eeeee']), call(['f'])]
    for (let n = 0; n < 5; n++) {
      await turn()
      statements[n]?.done()
    }
    await Promise.all(calls)
    expect(statements.map((statement) => statement.items)).toEqual([
      ['a'],
      ['bb', 'cc'],
      ['d'],
      ['eeeee'],
      ['f'],
    ])
  })

  test('Each call of a shared statement that fails is sent again alone', async () => {
    const { call, statements, turn } = controlled()
    const before = call(['a'])
    const good = call(['b'])
    const bad = call(['c'])
    statements[0]?.done()
    await before
    await turn()
    statements[1]?.fail(new Error('one of you is bad'))
    await turn()
    statements[2]?.done()
    expect(await good).toEqual(['b!'])
    await turn()
    statements[3]?.fail(new Error('it is you'))
    await expect(bad).rejects.toThrow('it is you')
    expect(statements.map((statement) => statement.items)).toEqual([['a'], ['b', 'c'], ['b'], ['c']])
  })

  test('A call without items sends no statement', async () => {
    const { call, statements } = controlled()
    expect(await call([])).toEqual([])
    expect(statements).toEqual([])
  })
})
