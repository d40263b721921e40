import { describe, expect, test } from '@jest/globals'
import { workspaceProblem } from '@scanfarm/contracts'
import { workspaceOf } from '../../src/submission/workspace-name.ts'

describe('the default workspace', () => {
  test.each(['example.com', '10.0.0.1', 'host_1', 'a'])(
    'the workspace of %s is the target itself',
    (target) => {
      expect(workspaceOf(target)).toBe(target)
    },
  )

  test.each([
    ['https://example.com/a?b=c', /^example\.com_a_b_c-[0-9a-f]{12}$/],
    ['10.0.0.0/24', /^10\.0\.0\.0_24-[0-9a-f]{12}$/],
    ['http://[::1]:8080/', /^1_8080-[0-9a-f]{12}$/],
    ['..', /^target-[0-9a-f]{12}$/],
    ['.hidden', /^hidden-[0-9a-f]{12}$/],
    ['пример.рф', /^target-[0-9a-f]{12}$/],
    [`${'a'.repeat(200)}.example`, /^a{115}-[0-9a-f]{12}$/],
  ])('the workspace of %s is a safe form with a hash', (target, form) => {
    expect(workspaceOf(target)).toMatch(form)
    expect(workspaceProblem(workspaceOf(target))).toBeUndefined()
    expect(workspaceOf(target)).toBe(workspaceOf(target))
  })

  test('targets that differ only in special characters have different workspaces', () => {
    const targets = ['http://a/', 'https://a/', 'a/', 'a', 'a.', 'http://a/?', 'http://a/#']
    expect(new Set(targets.map(workspaceOf)).size).toBe(targets.length)
  })

  test('a target that looks like a hashed name does not share the workspace of another target', () => {
    const hashed = workspaceOf('10.0.0.0/24')
    expect(workspaceOf(hashed)).not.toBe(hashed)
  })
})
