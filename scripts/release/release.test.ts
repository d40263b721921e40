import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { releaseNotes } from './notes.ts'

let root = ''
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'scanfarm-release-test-'))))
afterEach(() => rmSync(root, { recursive: true, force: true }))

const write = (path: string, content: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}

const checkout = (version: string, changelog: string): void => {
  for (const path of ['package.json', 'packages/one/package.json']) write(path, JSON.stringify({ version }))
  write('infra/helm/scanfarm/Chart.yaml', `apiVersion: v2\nversion: ${version}\nappVersion: ${version}\n`)
  write('CHANGELOG.md', changelog)
}

const CHANGELOG =
  '# Changelog\n\n## Unreleased\n\n## 1.2.0 (2026-11-23)\n\n- Two.\n- Three.\n\n## 1.1.0\n\n- One.\n'

test('the notes are the section of the version in the changelog', () => {
  checkout('1.2.0', CHANGELOG)
  expect(releaseNotes(root, 'v1.2.0')).toBe('- Two.\n- Three.\n')
})

test('every file with another version is named', () => {
  checkout('1.2.0', CHANGELOG)
  write('packages/one/package.json', '{"version":"1.1.0"}')
  write('infra/helm/scanfarm/Chart.yaml', 'version: 1.0.0\n')
  expect(() => releaseNotes(root, 'v1.2.0')).toThrow(
    'infra/helm/scanfarm/Chart.yaml has version 1.0.0: set it to 1.2.0\npackages/one/package.json has version 1.1.0: set it to 1.2.0',
  )
})

test.each([
  ['a version without a section', '1.3.0', CHANGELOG],
  ['a section without changes', '1.3.0', '## 1.3.0\n\n## 1.2.0\n\n- Two.\n'],
])('%s is refused', (_, version, changelog) => {
  checkout(version, changelog)
  expect(() => releaseNotes(root, `v${version}`)).toThrow(`CHANGELOG.md has no changes below "## ${version}"`)
})

test.each(['', '1.2.0', 'v1.2', 'v1.2.0; rm -rf /'])('the tag %j is refused', (tag) => {
  expect(() => releaseNotes(root, tag)).toThrow('must be like v1.2.3')
})

test('all packages of this checkout have one version', () => {
  const { version } = JSON.parse(execFileSync('cat', ['package.json'], { encoding: 'utf8' })) as {
    version: string
  }
  const problem = (): string => {
    try {
      return releaseNotes('.', `v${version}`)
    } catch (error) {
      return error instanceof Error ? error.message : ''
    }
  }
  expect(problem()).not.toContain('has version')
})
