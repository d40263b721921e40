import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { ExpressionEngine, type Outcome } from '../../src/expression/engine.ts'
import type { Evaluate } from '../../src/expression/program-thread.ts'
import {
  evaluateSimple,
  MESSAGE_CHARS,
  prepareProgram,
  TemplateError,
  type Expr,
  parseTemplate,
  renderPieces,
  renderText,
  data,
  textOf,
  type Value,
  type Json,
} from '@scanfarm/language'

const LIMITS = { memoryBytes: 8 << 20, resultChars: 100_000 }
const engine = new ExpressionEngine({ limits: LIMITS, maxThreads: 2 })
/** What is right must not take that long here, whatever else the machine does. */
const hasty = new ExpressionEngine({ limits: { ...LIMITS, timeMs: 300 }, maxThreads: 2 })
afterAll(async () => {
  await engine[Symbol.asyncDispose]()
  await hasty[Symbol.asyncDispose]()
})

const never = new AbortController().signal

const evaluate = async (
  code: string,
  globals: Record<string, Json> = {},
  signal = never,
  by = engine,
  host: Evaluate['host'] = async (name, args, until) => {
    if (name === 'fail') throw new Error('it failed')
    if (name === 'wait') await pause(Number(args[0]), undefined, { signal: until })
    return args[0] ?? null
  },
): Promise<Outcome> => await by.evaluate({ code, globals, functions: ['echo', 'fail', 'wait'], signal, host })

describe('the expression engine', () => {
  test('expressions have no access to the process', async () => {
    for (const name of [
      'process',
      'require',
      'fetch',
      'setTimeout',
      'Deno',
      'WebAssembly',
      'importScripts',
      'std',
      'os',
    ]) {
      expect(await evaluate(`typeof ${name}`)).toEqual({ kind: 'value', value: 'undefined' })
    }
    expect(await evaluate('import("fs")')).not.toMatchObject({
      kind: 'value',
      value: { default: expect.anything() },
    })
  })

  test('expressions share no state', async () => {
    await evaluate(
      'globalThis.leak = 1; Object.prototype.leak = 2; Array.prototype.map = () => 0; JSON.parse = null',
    )
    expect(
      await evaluate('[typeof leak, ({}).leak === undefined, [1].map(x => x)[0], JSON.parse("1")]'),
    ).toEqual({ kind: 'value', value: ['undefined', true, 1, 1] })
    await evaluate('Math.random = () => 4')
    const random = [await evaluate('Math.random()'), await evaluate('Math.random()')]
    expect(random).toEqual([
      { kind: 'value', value: expect.any(Number) },
      { kind: 'value', value: expect.any(Number) },
    ])
    expect(random[0]).not.toEqual(random[1])
  })

  test('an expression has all the memory of its limit after others that used it up', async () => {
    await using single = new ExpressionEngine({ limits: LIMITS, maxThreads: 1 })
    const half = 'const kept = globalThis.kept = []; while (kept.length < 40000) kept.push({}); kept.length'
    for (let turn = 0; turn < 2; turn++) {
      await evaluate('const all = globalThis.all = []; for (;;) all.push({})', {}, never, single)
      expect(await evaluate(half, {}, never, single)).toEqual({ kind: 'value', value: 40000 })
    }
  })

  test('expressions are limited in time, memory, stack and result, and the engine keeps working afterwards', async () => {
    const endless = (code: string) => evaluate(code, {}, never, hasty)
    expect(await endless('while (true) {}')).toEqual({
      kind: 'error',
      message: 'the expression took longer than 0.3s',
    })
    expect(await endless('let a = []; while (true) a.push("x".repeat(1e6) + a.length)')).toMatchObject({
      kind: 'error',
    })
    expect(await endless('let a = []; while (true) a.push([1, 2, 3])')).toMatchObject({ kind: 'error' })
    expect(await evaluate('const f = () => f() + 1; f()')).toMatchObject({
      kind: 'error',
      message: expect.stringContaining('stack'),
    })
    expect(await evaluate('"x".repeat(200000)')).toEqual({
      kind: 'error',
      message: 'the result is too large',
    })
    expect(await endless('1 + 1')).toEqual({ kind: 'value', value: 2 })
  })

  test.each([
    ['throw new Error("x".repeat(2e6))', 'xxx'],
    ['throw "x".repeat(2e6)', 'xxx'],
    ['throw { name: "N".repeat(10), message: "x".repeat(2e6) }', 'NNNNNNNNNN: xxx'],
    ['const e = new Error(); e.name = "N".repeat(2e6); throw e', 'NNN'],
    ['fail("x".repeat(80000))', 'xxx'],
  ])('the error of %s is cut', async (code, begin) => {
    const outcome = await evaluate(code, {}, never, engine, (_name, [text]) => {
      throw new Error(typeof text === 'string' ? text : 'no text')
    })
    if (outcome.kind !== 'error') throw new Error('it succeeded')
    expect(outcome.message.slice(0, begin.length)).toBe(begin)
    expect(outcome.message.slice(-2)).toMatch(/^[xN]…$/)
    expect(outcome.message).toHaveLength(MESSAGE_CHARS)
  })

  test.each([
    ['throw { toString() { throw 1 }, get message() { throw 2 } }', 'its error has no text'],
    ['throw { get message() { for (;;) {} } }', 'the expression took longer than 0.3s'],
    ['throw null', 'null'],
    ['throw undefined', 'undefined'],
    ['throw Symbol("s")', 'Symbol(s)'],
    ['throw { code: 1 }', ''],
    ['null.x', 'TypeError: '],
    ['const all = globalThis.all = []; for (;;) all.push({})', 'out of memory'],
  ])('the error of %s has a text', async (code, text) => {
    const outcome = await evaluate(code, {}, never, text.includes('0.3s') ? hasty : engine)
    expect(outcome).toEqual({ kind: 'error', message: expect.stringContaining(text) })
    expect(await evaluate('1 + 1', {}, never, hasty)).toEqual({ kind: 'value', value: 2 })
  })

  test('arguments of functions beyond the limit stay in the thread', async () => {
    let calls = 0
    const outcome = await evaluate('echo("x".repeat(100000))', {}, never, engine, () => (calls += 1))
    expect(outcome).toEqual({
      kind: 'error',
      message: 'the arguments of echo have more than 100000 characters as JSON',
    })
    expect(calls).toBe(0)
  })

  test('an expression cannot exceed its memory limit, not even with many small texts', async () => {
    const before = process.memoryUsage().rss
    let peak = before
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
    const outcome = await evaluate('const a = []; while (true) a.push("x".repeat(1e6) + a.length)')
    clearInterval(timer)
    expect(outcome).toEqual({ kind: 'error', message: expect.stringContaining('out of memory') })
    expect(peak - before).toBeLessThan(200 << 20)
    expect(await evaluate('1 + 1')).toEqual({ kind: 'value', value: 2 })
  })

  test('an expression that ended while the event loop was blocked does not time out', async () => {
    const still = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500)
    const outcome = await hasty.evaluate({
      code: '1 + answer()',
      globals: {},
      functions: ['answer'],
      signal: never,
      host: () => {
        setImmediate(still)
        return 1
      },
    })
    expect(outcome).toEqual({ kind: 'value', value: 2 })
  })

  test('threads that ended while idle are not reused', async () => {
    // In another process: its event `worker` gives the thread.
    const script = `
      import { once } from 'node:events'
      import { ExpressionEngine } from ${JSON.stringify(join(import.meta.dirname, '../../src/expression/engine.ts'))}
      const started = once(process, 'worker')
      await using engine = new ExpressionEngine({ limits: { timeMs: 300 }, maxThreads: 1 })
      const signal = new AbortController().signal
      const evaluate = () => engine.evaluate({ code: '1 + 1', globals: {}, functions: [], host: () => null, signal })
      await evaluate()
      const [thread] = await started
      await thread.terminate()
      console.log(JSON.stringify(await evaluate()))
    `
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script])
    expect(JSON.parse(stdout)).toEqual({ kind: 'value', value: 2 })
  })

  test('waiting for functions does not count as time of an expression, and their errors are thrown in it', async () => {
    expect(await evaluate('wait(600) + echo({a: [1]}).a[0]')).toEqual({ kind: 'value', value: 601 })
    expect(await evaluate('try { fail() } catch (e) { e.message }')).toEqual({
      kind: 'value',
      value: 'it failed',
    })
    expect(await evaluate('fail()')).toEqual({ kind: 'error', message: 'it failed' })
  })

  test('an expression never receives the reply to one that was stopped before it', async () => {
    await using single = new ExpressionEngine({ limits: LIMITS, maxThreads: 1 })
    const answers: Json[] = []
    for (let turn = 0; turn < 20; turn++) {
      const stop = new AbortController()
      await single.evaluate({
        code: 'for (;;) echo()',
        globals: {},
        functions: ['echo'],
        signal: stop.signal,
        host: () => {
          // After the answer is sent, and before the thread has read it.
          void Promise.resolve()
            .then(() => undefined)
            .then(() => undefined)
            .then(() => stop.abort())
          return 'of the one before'
        },
      })
      const next = await evaluate('echo("own")', {}, never, single)
      answers.push(next.kind === 'value' ? next.value : next.kind)
    }
    expect(new Set(answers)).toEqual(new Set(['own']))
  })

  test('an expression stops on cancel while it computes or waits', async () => {
    await using patient = new ExpressionEngine({ limits: { ...LIMITS, timeMs: 60_000 } })
    for (const code of ['while (true) {}', 'wait(60000)', 'for (;;) { try { wait(60000) } catch {} }']) {
      const abort = new AbortController()
      setTimeout(() => abort.abort(), 30)
      const from = performance.now()
      expect(await evaluate(code, {}, abort.signal, patient)).toEqual({ kind: 'cancelled' })
      expect(performance.now() - from).toBeLessThan(30_000)
    }
  })
})

describe('programs that wait for a thread', () => {
  test('an expression gets a thread while others wait for functions', async () => {
    await using several = new ExpressionEngine({ limits: LIMITS, maxThreads: 4 })
    const holding = new AbortController()
    const holders = Array.from({ length: 3 }, () => evaluate('wait(3600000)', {}, holding.signal, several))
    expect(await evaluate('2', {}, never, several)).toEqual({ kind: 'value', value: 2 })
    holding.abort()
    expect(await Promise.all(holders)).toEqual(holders.map(() => ({ kind: 'cancelled' })))
  })

  test('a waiting expression is removed on cancel while all threads are busy, and the next one gets the thread', async () => {
    await using busy = new ExpressionEngine({ limits: { ...LIMITS, timeMs: 60_000 }, maxThreads: 1 })
    const [holding, leaving] = [new AbortController(), new AbortController()]
    const holder = evaluate('wait(3600000)', {}, holding.signal, busy)
    const cancelled = evaluate('1', {}, leaving.signal, busy)
    const next = evaluate('2', {}, never, busy)
    leaving.abort()
    expect(await cancelled).toEqual({ kind: 'cancelled' })
    holding.abort()
    expect(await holder).toEqual({ kind: 'cancelled' })
    expect(await next).toEqual({ kind: 'value', value: 2 })
  })

  test('expressions that follow one in its thread survive the end of the thread', async () => {
    // In another process: its event `worker` gives the thread.
    const script = `
      import { once } from 'node:events'
      import { ExpressionEngine } from ${JSON.stringify(join(import.meta.dirname, '../../src/expression/engine.ts'))}
      const started = once(process, 'worker')
      await using engine = new ExpressionEngine({ maxThreads: 1 })
      const signal = new AbortController().signal
      const begun = Promise.withResolvers()
      const outcomes = ['begin(); while (true) {}', '2', '3', '4', '5', '6'].map((code) =>
        engine.evaluate({ code, globals: {}, functions: ['begin'], host: () => begun.resolve(), signal }))
      const [thread] = await started
      await begun.promise
      await thread.terminate()
      console.log(JSON.stringify(await Promise.all(outcomes)))
    `
    const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script])
    expect(JSON.parse(stdout)).toEqual([
      { kind: 'error', message: 'the expression was stopped' },
      ...[2, 3, 4, 5, 6].map((value) => ({ kind: 'value', value })),
    ])
  })

  test('an expression that follows an endless one gets another thread', async () => {
    await using several = new ExpressionEngine({ limits: { ...LIMITS, timeMs: 60_000 }, maxThreads: 2 })
    const stop = new AbortController()
    const endless = evaluate('while (true) {}', {}, stop.signal, several)
    const others = [2, 3, 4, 5, 6].map((value) => evaluate(String(value), {}, never, several))
    expect(await Promise.all(others)).toEqual([2, 3, 4, 5, 6].map((value) => ({ kind: 'value', value })))
    stop.abort()
    expect(await endless).toEqual({ kind: 'cancelled' })
  })

  test('an expression that follows one that waits for hours is not overtaken by all later ones', async () => {
    await using several = new ExpressionEngine({ limits: LIMITS, maxThreads: 2 })
    const [holding, ended] = [new AbortController(), new AbortController()]
    const holder = evaluate('wait(3600000)', {}, holding.signal, several)
    const early = Array.from({ length: 8 }, (_, n) => evaluate(String(n), {}, never, several))
    const later = Array.from({ length: 12 }, async () => {
      while (!ended.signal.aborted) await evaluate('1', {}, never, several)
    })
    expect(await Promise.all(early)).toEqual(early.map((_, value) => ({ kind: 'value', value })))
    ended.abort()
    holding.abort()
    await Promise.all([holder, ...later])
  })

  test('a cancelled expression stops no other of its thread, and each receives only its own replies', async () => {
    await using several = new ExpressionEngine({ limits: LIMITS, maxThreads: 2 })
    const outcomes = await Promise.all(
      Array.from({ length: 240 }, async (_, n) => {
        const stop = new AbortController()
        const isStopped = n % 3 === 0
        const outcome = several.evaluate({
          code: `echo() + echo() - $n`,
          globals: { $n: n },
          functions: ['echo'],
          signal: stop.signal,
          host: async () => {
            if (n % 2 === 0) await new Promise(setImmediate)
            if (isStopped && n % 4 === 0) stop.abort()
            return n
          },
        })
        if (isStopped && n % 4 !== 0) {
          for (let turn = 0; turn < n % 7; turn++) await new Promise(setImmediate)
          stop.abort()
        }
        const { kind, ...rest } = await outcome
        return isStopped && kind === 'cancelled' ? undefined : { n, kind, ...rest }
      }),
    )
    const ended = outcomes.filter((outcome) => outcome !== undefined)
    expect(ended.length).toBeGreaterThanOrEqual(160)
    expect(ended).toEqual(ended.map(({ n }) => ({ n, kind: 'value', value: n })))
  })

  test('a variable without JSON is an error of its expression alone', async () => {
    await using single = new ExpressionEngine({ limits: LIMITS, maxThreads: 1 })
    const circular: Record<string, Json> = {}
    circular['own'] = circular
    const before = evaluate('1', {}, never, single)
    const failed = evaluate('2', circular, never, single)
    const after = evaluate('3', {}, never, single)
    await expect(failed).rejects.toThrow('circular')
    expect(await Promise.all([before, after])).toEqual([1, 3].map((value) => ({ kind: 'value', value })))
  })

  test('an engine that closes leaves no expression without an outcome', async () => {
    const closing = new ExpressionEngine({ limits: LIMITS, maxThreads: 1 })
    const outcomes = Array.from({ length: 8 }, () => evaluate('wait(3600000)', {}, never, closing))
    await closing[Symbol.asyncDispose]()
    for (const { kind } of await Promise.all(outcomes)) expect(kind).not.toBe('value')
    expect(await evaluate('1', {}, never, closing)).toEqual({ kind: 'cancelled' })
  })
})

describe('programs', () => {
  test('braces in an expression become values, never code', async () => {
    const program = prepareProgram('`a{{x}}${1 + 1}` + "{{x}}\'" + {{x}} // {{y}}\n')
    const value = '"; process.exit() //${1}`\\'
    expect(
      await evaluate(program.script, {
        $hole: program.holes.map(() => value),
        $text: program.holes.map(() => value),
      }),
    ).toEqual({ kind: 'value', value: `a${value}2${value}'${value}` })
  })

  test('the names of a program are those that JavaScript reads', () => {
    const source = 'größe + 1e3 / a.b /* c */ + /d/g.source + f (`${e}`, "h") // i'
    const { names, calls } = prepareProgram(source)
    expect([...names]).toEqual(['größe', 'a', 'f', 'e'])
    expect([...calls]).toEqual([['f', source.indexOf('f (')]])
  })

  test('simple expressions have the same result with and without QuickJS', async () => {
    const atom = fc.constantFrom(
      '1',
      '0',
      '"a"',
      "''",
      '"10"',
      'true',
      'false',
      'x',
      'y',
      'n',
      '-2.5',
      'echo("b")',
      'echo(n)',
      '{{x}}',
      '{{o}}',
      '"{{o}}"',
      'o',
      'l',
      'alias',
      'none',
      'on',
      'off',
      '"{{off}}"',
      'echo(o)',
      'echo(l)',
      'o.a',
      'o.b',
      'l.length',
      'l[2]',
      'l[9]',
      'x["length"]',
      'n.length',
      'deep.list[1].a',
      'echo(deep).list',
      '`a${x}b{{o}}${o}${o.b}`',
      'echo({ a: o.b, "b c": [n, -0, { x }, 1 / 0], 1: l })',
      'echo([o.b, 0 * -1, 1 / 0])',
    )
    const operators = '== != === !== < > <= >= + - * / % && ||'.split(' ')
    const operator = fc.constantFrom(...operators)
    const expression = fc.letrec<{ e: string }>((tie) => ({
      e: fc.oneof(
        { maxDepth: 3 },
        atom,
        fc.tuple(tie('e'), operator, tie('e')).map(([a, op, b]) => `(${a} ${op} ${b})`),
        fc.tuple(tie('e'), tie('e')).map(([a, b]) => `((${a}) ?? (${b}))`),
        fc.tuple(tie('e'), tie('e'), tie('e')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
        tie('e').map((e) => `!${e}`),
      ),
    })).e
    const object = { a: 1 }
    const globals: Record<string, Json> = {
      x: 'text',
      y: '',
      n: 3,
      o: object,
      alias: object,
      l: ['a', null, 2],
      none: null,
      on: 'true',
      off: 'false',
      deep: { list: [1, { a: 'b' }] },
    }
    const inHole = (expr: Expr) => (expr.kind === 'variable' ? (globals[expr.name] ?? null) : null)
    await fc.assert(
      fc.asyncProperty(expression, async (source) => {
        const simple = prepareProgram(source).simple
        if (simple === undefined) throw new Error(`${source} is simple`)
        const value = await evaluateSimple(simple, {
          name: (name) => globals[name] ?? null,
          hole: (expr, quoted) => (quoted ? JSON.stringify(inHole(expr)) : inHole(expr)),
          call: async (_name, args) => args[0] ?? null,
        })
        const program = prepareProgram(source)
        const full = await evaluate(program.script, {
          ...globals,
          $hole: program.holes.map(({ expr }) => inHole(expr)),
          $text: program.holes.map(({ expr }) => JSON.stringify(inHole(expr))),
        })
        expect(full).toEqual({
          kind: 'value',
          value: typeof value === 'number' && !Number.isFinite(value) ? null : value,
        })
      }),
      { numRuns: 200 },
    )
  })

  test('expressions in sequence have the result of the last one, and stop at the first error', async () => {
    const run = async (source: string): Promise<{ calls: string[]; result: unknown }> => {
      const calls: string[] = []
      const simple = prepareProgram(source).simple
      if (simple === undefined) throw new Error(`${source} is simple`)
      const scope = {
        name: () => null,
        hole: () => null,
        call: async (_name: string, [text = null]: Json[]) => {
          calls.push(JSON.stringify(text))
          return text
        },
      }
      const result = await evaluateSimple(simple, scope).catch((error: Error) => error.message)
      return { calls, result }
    }
    expect(await run('echo("a"); echo("b")\necho("c").length')).toEqual({
      calls: ['"a"', '"b"', '"c"'],
      result: 1,
    })
    const message = "TypeError: cannot read property 'b' of null"
    expect(await run('echo("a"); x.b; echo("b")')).toEqual({ calls: ['"a"'], result: message })
    expect(await evaluate('x.b', { x: null })).toEqual({ kind: 'error', message })
    expect(await run('x.b.c')).toEqual({ calls: [], result: message })
  })

  test('members that QuickJS inherits are not simple', async () => {
    const outcome = await evaluate(
      '[{}, [], "", 1, true].flatMap((v) => { const found = []; for (let o = Object.getPrototypeOf(v); o; o = Object.getPrototypeOf(o)) found.push(...Object.getOwnPropertyNames(o)); return found })',
    )
    if (outcome.kind !== 'value') throw new Error(outcome.kind)
    const names = (outcome.value as string[]).filter((name) => name !== 'length')
    expect(names.length).toBeGreaterThan(50)
    expect(names.filter((name) => prepareProgram(`x["${name}"]`).simple !== undefined)).toEqual([])
  })

  test.each([
    ['o == p', false],
    ['o != p', true],
    ['o === p', false],
    ['l == m', false],
    ['o == o', true],
    ['l === l', true],
    ['{{o}} == {{o}}', false],
    ['echo(o) == o', false],
    ['o == alias', false],
    ['(no || o) == o', true],
    ['l == "a,b"', true],
    ['o == "[object Object]"', true],
  ])('expressions compare lists and objects by identity: %s', async (source, expected) => {
    const object = { a: 1 }
    const globals: Record<string, Json> = {
      o: object,
      p: { b: 2 },
      alias: object,
      l: ['a', 'b'],
      m: ['a', 'b'],
      no: false,
    }
    const simple = prepareProgram(source).simple
    if (simple === undefined) throw new Error(`${source} is simple`)
    const value = await evaluateSimple(simple, {
      name: (name) => globals[name] ?? null,
      hole: (expr) => (expr.kind === 'variable' ? (globals[expr.name] ?? null) : null),
      call: async (_name, args) => args[0] ?? null,
    })
    expect(value).toBe(expected)
    const program = prepareProgram(source)
    const holes = { $hole: program.holes.map(() => object) }
    expect(await evaluate(program.script, { ...globals, ...holes })).toEqual({
      kind: 'value',
      value: expected,
    })
  })

  test.each(['o + "a"', 'o == "a"', 'l < "b"', '"" + {{o}}', 'echo(o) == 1'])(
    'expressions fail with and without QuickJS if an object cannot be converted to a primitive value: %s',
    async (source) => {
      const object = { toString: 'text', valueOf: 1 }
      const globals: Record<string, Json> = { o: object, l: [object] }
      const simple = prepareProgram(source).simple
      if (simple === undefined) throw new Error(`${source} is simple`)
      const value = evaluateSimple(simple, {
        name: (name) => globals[name] ?? null,
        hole: () => object,
        call: async (_name, args) => args[0] ?? null,
      })
      await expect(value).rejects.toThrow(TypeError)
      const { code } = prepareProgram(source)
      expect(await evaluate(code, { ...globals, $hole: [object] })).toMatchObject({ kind: 'error' })
    },
  )

  test('expressions that are not simple are evaluated by QuickJS', () => {
    for (const source of [
      'String(5)',
      'Number("3") > 2 && Boolean(x)',
      'encodeURIComponent(x)',
      'x == undefined',
      'a.map',
      'a[b]',
      'a?.b',
      'a.toString',
      '[1]',
      '[1].length',
      'echo([...a])',
      'echo({ ...a })',
      'echo({ __proto__: a })',
      'echo({ [a]: 1 })',
      'echo({ f() {} })',
      'echo([1, , 2])',
      'a ?? [b]',
      'a = 1',
      'f(1)(2)',
      'a, b',
      'f`x`',
      '/a/.test(x)',
      'new X()',
      'x => x',
      'i++',
      'a ** 1',
      'a & 1',
      '-a',
      '1 2',
      '"a" "b"',
      'if (x) 1',
      'a; let b',
      'a; if (x) 1',
    ]) {
      expect([source, prepareProgram(source).simple]).toEqual([source, undefined])
    }
  })
})

describe('templates', () => {
  const variables: Record<string, Value> = {
    n: 5,
    s: data('10'),
    t: data("it's"),
    o: { a: { b: [1, 'two'] }, j: 'x' },
    yes: true,
    no: data('false'),
  }
  const render = (text: string): string => renderText(parseTemplate(text), { get: (name) => variables[name] })

  test('templates support variables, members, arithmetic, comparisons and filters', () => {
    expect(render('{{n}}-{{ s }}-{{o.a.b.1}}-{{o["j"]}}-{{undefined_one}}|')).toBe('5-10-two-x-|')
    expect(
      render(
        '{{ n * 6 }} {{ s * 2 }} {{ s + 1 }} {{ n / 2 }} {{ 7.5 / 2 }} {{ 2 ^ 3 }} {{ -n % 3 }} {{ (1 + 2) * 3 }}',
      ),
    ).toBe('30 20 11 2 3.75 8 -2 9')
    expect(
      render(
        '{{ n > 4 and not no }} {{ "s" in t }} {{ n == 5 && yes }} {{ no || "x" }} {{ 3 not in o.a.b }}',
      ),
    ).toBe('true true true x true')
    expect(
      render(
        '{{ t | upper }} {{ nothing | default:"d" }} {{ s|add:5 }} {{ o.a.b|join:"+" }} {{ t|length }} {{ yes|yesno:"j,n" }} {{ "a/b.c"|basename }}',
      ),
    ).toBe("IT'S d 15 1+two 4 j b.c")
    expect(render('{{ "{{" }} {{ call(1, (2)) }}{{ "a}}b" }} ${#x} {not} {{ o }}')).toBe(
      '{{ a}}b ${#x} {not} {"a":{"b":[1,"two"]},"j":"x"}',
    )
  })

  test('templates support branches, loops and set, and leave texts unchanged that only look like a tag', () => {
    expect(render('{{n}}{% if yes and n > 4 %} deep{% elif no %} odd{% else %} quick{% endif %}.')).toBe(
      '5 deep.',
    )
    expect(render('{% if no %}a{% elif n == 5 %}{{s}}{% else %}c{% endif %}')).toBe('10')
    expect(render('{{n}}{% if missing %}a{% endif %}{% if not no %}b{% endif %}')).toBe('5b')
    expect(
      render(
        '{% for x in o.a.b %}{% if not forloop.First %},{% endif %}{{ forloop.Counter }}={{x}}{% endfor %}',
      ),
    ).toBe('1=1,2=two')
    expect(render('{% for x in missing %}{{x}}{% empty %}none{% endfor %}')).toBe('none')
    expect(
      render('{% set m = n * 2 %}{{m}}{# not this: {{ n }} #}{% comment %}nor {{n}}{% endcomment %}'),
    ).toBe('10')
    expect(render('${#x} {{n}} -w "%{http_code}" {%not a tag%} {% verbatim %}')).toBe(
      '${#x} 5 -w "%{http_code}" {%not a tag%} {% verbatim %}',
    )
    expect(render('{% if yes %}without braces{% endif %}')).toBe('{% if yes %}without braces{% endif %}')
  })

  test('templates keep decimal numbers', () => {
    expect(render('{{ 4.0 }} {{ 10 / 4.0 }} {{ 7.0 / 2 }} {{ n * 2.0 }} {{ s|float }} {{ 0.1 + 0.2 }}')).toBe(
      '4.0 2.5 3.5 10.0 10.0 0.3',
    )
    expect(render('{{ 10 / 4 }} {{ n / 2 }} {{ 2.5 }}')).toBe('2 2 2.5')
  })

  test('templates pad, truncate and count texts', () => {
    const cases: Record<string, string> = {
      '{{ s|ljust:4 }}|{{ s|rjust:4 }}|{{ s|center:5 }}|{{ s|ljust:1 }}|': '10  |  10|  10 |10|',
      '{{ n|stringformat:"%05d" }} {{ "ab"|stringformat:"%05s" }} {{ "ab"|stringformat:"%-4s|" }}':
        '00005 000ab ab  |',
      '{{ 2.5|stringformat:"%.2f" }} {{ 255|stringformat:"%x/%%" }} {{ (0 - 3)|stringformat:"%04d" }} {{ n|stringformat:"%+d" }}':
        '2.50 ff/% -003 +5',
      '{{ "abc"|stringformat:"%.2s" }} {{ "a\'b"|stringformat:"%q" }}': 'ab "a\'b"',
      '{{ 10|divisibleby:5 }} {{ 10|divisibleby:3 }} {{ 10|divisibleby:0 }} {{ "x"|divisibleby:1 }}':
        'true false false false',
      '{{ "abc"|make_list|join:"-" }} {{ 12345|get_digit:2 }} {{ 12345|get_digit:9 }}': 'a-b-c 4 12345',
      '{{ "one two three"|truncatewords:2 }} {{ "abcdef"|truncatechars:5 }} {{ "abcdef"|truncatechars:2 }}':
        'one two ... ab... ab',
      '{{ "a b c"|wordwrap:2 }}/{{ "a"|linenumbers }}': 'a b\nc/1. a',
      '{{ n|pluralize }}{{ 1|pluralize }} {{ n|pluralize:"y,ies" }} {{ 1|pluralize:"y,ies" }}': 's ies y',
      '{{ o.a.b|length_is:2 }} {{ "a<b>c</b>"|removetags:"b" }} {{ "<"|e }}': 'true ac &lt;',
      '{{ "a b/ü?"|iriencode }} {{ "1-800-CALL"|phone2numeric }}': 'a%20b/%C3%BC? 1-800-2255',
      '{{ "x"|random }}{{ nothing|random }} {{ nothing|default_if_none:"d" }} {{ nothing|yesno }}':
        'x d maybe',
      '{{ no|default:"d" }} {{ "0"|default:"d" }} {{ ""|default:"d" }}': 'false 0 d',
    }
    for (const [text, expected] of Object.entries(cases))
      expect([text, render(text)]).toEqual([text, expected])
    expect(() => render('{{ s|ljust:99999999 }}')).toThrow('characters')
    expect(() => render('{{ s|stringformat:"%99999d" }}')).toThrow('wider')
    expect(() => render('{{ t|stringformat:"%d" }}')).toThrow('needs a number')
  })

  test('templates support with, now, firstof and literal braces', () => {
    const cases: Record<string, string> = {
      '{% with x=n y="a b"|upper %}{{x}}{{y}}{% endwith %}{{x}}.': '5A B.',
      '{% with n * 2 as x %}{{x}}{% endwith %}': '10',
      '{% firstof missing no s %}{{ missing }}': '10',
      '{% ifequal n 5 %}{{s}}{% else %}no{% endifequal %}{% ifnotequal n 5 %}no{% endifnotequal %}': '10',
      '{% templatetag openvariable %}{{n}}{% templatetag closevariable %}': '{{5}}',
      '{% for x in o.a.b reversed %}{{x}}{{forloop.Revcounter}}{% endfor %}': 'two211',
      '{% for k, v in o sorted %}{{k}}={{v}};{% endfor %}': 'a={"b":[1,"two"]};j=x;',
    }
    for (const [text, expected] of Object.entries(cases))
      expect([text, render(text)]).toEqual([text, expected])
    const year = new Date().getUTCFullYear()
    expect([`${year}-`, `${year + 1}-`]).toContain(render('{% now "2006-" %}{{ missing }}'))
    for (const text of [
      '{{n}}{% with %}{% endwith %}',
      '{{n}}{% with x=1 %}',
      '{{n}}{% now x %}',
      '{{n}}{% firstof %}',
    ])
      expect(() => parseTemplate(text)).toThrow(TemplateError)
  })

  test('loops of templates are limited', () => {
    const list = JSON.stringify(Array.from({ length: 200 }, () => 1))
    const twice = parseTemplate('{% for a in l %}{% for b in l %}{{b}}{% endfor %}{% endfor %}')
    expect(() => renderText(twice, { get: () => data(list) })).toThrow('at most 10000 iterations')
  })

  test('invalid templates are refused with the position of the error', () => {
    for (const text of [
      '{{n}} {% if n %}',
      '{{n}} {% endif %}',
      '{{n}} {% if n %}{% endfor %}',
      '{{n}} {% if n %}{% else %}{% elif n %}{% endif %}',
      '{{n}} {% for n %}{% endfor %}',
      '{{n}} {% include "/etc/passwd" %}',
      '{{n}} {% ssi "/etc/passwd" %}',
      '{{n}} {% if a b %}{% endif %}',
      `{{n}}${'{% if n %}'.repeat(30)}${'{% endif %}'.repeat(30)}`,
      '{{ a b }}',
      'x {{',
      '{{ }}',
      '{{ a | }}',
      '{{ 1 + }}',
      '{{.Names}}',
      `{{ ${'('.repeat(100)}1${')'.repeat(100)} }}`,
    ]) {
      expect(() => parseTemplate(text)).toThrow(TemplateError)
    }
    expect(() => render('{{ t.x }}')).toThrow('"t" is a text')
    expect(() => render('{{ n / 0 }}')).toThrow('division by zero')
    expect(() => render('{{ n | nope }}')).toThrow('no filter "nope"')
  })

  test('rendered templates keep the origin of each part', () => {
    const mixed: Record<string, Value> = { d: data('D'), p: textOf('P', 'param') }
    const pieces = renderPieces(
      parseTemplate('a {{d}} {{p}} {{ "lit" }} {{ d | upper }} {{ p + d }} {{ p|default:d|lower }}'),
      { get: (name) => mixed[name] },
    )
    expect(pieces.filter(({ text }) => text.trim() !== '').map(({ text, origin }) => `${text.trim()} ${origin}`)).toEqual([
      'a author', 'D data', 'P param', 'lit author', 'D data', 'P param', 'D data', 'p param',
    ]) // prettier-ignore
    const looped = renderPieces(parseTemplate('{% set e = d %}{{e}}{% for x in l %}-{{x}}{% endfor %}'), {
      get: (name) => (name === 'l' ? ['$(id)'] : mixed[name]),
    })
    const inside = renderPieces(
      parseTemplate('{% with e=d %}{{e}}{% endwith %}{% firstof none d %}{{ d|ljust:2 }}'),
      { get: (name) => mixed[name] },
    )
    expect(inside.map(({ text, origin }) => `${text} ${origin}`)).toEqual(['D data', 'D data', 'D  data'])
    expect(looped.map(({ text, origin }) => `${text} ${origin}`)).toEqual([
      'D data',
      '- author',
      '$(id) data',
    ])
  })
})
