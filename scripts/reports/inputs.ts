// Small inputs with mistakes for the tools whose reports are imported.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A key that scanners take for one of a real service, put together so that this file has none. */
const KEY = `ghp_${'x7Rk2Vq9Lm4Tn8Zp'.repeat(3).slice(0, 36)}`

const FILES: Readonly<Record<string, string>> = {
  'code/my dir/ünï.py': `import hashlib, subprocess, yaml
PASSWORD = 'hunter22'
def run(cmd): return subprocess.call(cmd, shell=True)
def load(text): return yaml.load(text); assert text; assert text
def digest(text): return hashlib.md5(text).hexdigest(), eval(text)
`,
  'code/rules.yaml': `rules:
  - id: demo-eval
    languages: [python]
    severity: ERROR
    message: eval of a value
    pattern: eval(...)
    metadata: { cwe: ["CWE-95: Eval Injection"], confidence: HIGH }
`,
  'code/.github/workflows/ci.yml': `on: push
jobs:
  build:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: echo "\${{ github.event.head_commit.message }}"
`,
  'docker/Dockerfile':
    'FROM debian:latest\nRUN apt-get update && apt-get install curl && cd /tmp\nRUN sudo ls\n',
  'go/go.mod': 'module example.test/demo\n\ngo 1.24\n',
  'go/main.go': `package main

import (
	"crypto/md5"
	"fmt"
	"net/http"
	"os"
)

func main() {
	_ = os.WriteFile("a", md5.New().Sum(nil), 0o777)
	_ = os.WriteFile("b", md5.New().Sum(nil), 0o777)
	fmt.Println(http.ListenAndServe(":8000", nil))
}
`,
  'python/requirements.txt': 'jinja2==2.10\nrequests==2.19.0\n',
  'node/package.json': '{"name": "demo", "version": "1.0.0", "dependencies": {"minimist": "0.0.8"}}\n',
  'node/package-lock.json': `${JSON.stringify({
    name: 'demo',
    version: '1.0.0',
    lockfileVersion: 3,
    packages: {
      '': { name: 'demo', version: '1.0.0', dependencies: { minimist: '0.0.8' } },
      'node_modules/minimist': { version: '0.0.8' },
    },
  })}\n`,
  'words.txt': '.env\n.git/HEAD\n.git/config\nadmin/\nbackup.zip\nfiles/\nnothing\n',
}

/** Writes the inputs and a repository with a key in two commits, which are the same each time. */
export const writeInputs = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true })
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const secrets = join(folder, 'secrets')
  mkdirSync(join(secrets, 'my dir'), { recursive: true })
  const time = '2026-01-01T00:00:00Z'
  const git = (...args: string[]): void => {
    execFileSync('git', ['-c', 'user.name=Demo', '-c', 'user.email=demo@example.test', ...args], {
      cwd: secrets,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], GIT_AUTHOR_DATE: time, GIT_COMMITTER_DATE: time },
    })
  }
  git('init', '-q', '-b', 'main')
  for (const name of ['a', 'b']) {
    writeFileSync(join(secrets, 'my dir', 'cönf.ini'), `[${name}]\ntoken = ${KEY}\n`)
    git('add', '.')
    git('commit', '-qm', name)
  }
}
