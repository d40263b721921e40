import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { renderCommand } from '../src/shell/render.ts'
const cases: Record<string,string> = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
const HOSTILE = [
  'touch canary', 'a; touch canary', '$(touch canary)', '"; touch canary; "', "'; touch canary; '", "a'; touch canary #",
  'a\ntouch canary\n', 'a[$(touch canary)]', 'BEGIN { system("touch canary") }', 'import os; os.system("touch canary")',
  'system("touch canary")', '-oProxyCommand=touch canary', 'ProxyCommand=touch canary', '/; 1e touch canary\n#',
  '`touch canary`', '1e touch canary', '$(bash -c "touch canary")', 'x" -exec touch canary ; "', 'core.fsmonitor=touch canary;', 'EXEC:touch canary', "x=a[$(touch canary)]", "strict;system(qq{touch canary})", '/(?{system("touch canary")})/','"; system("touch canary"); "', 'sh -c touch${IFS}canary', '"+__import__("os").system("touch canary")+"', 'x/e;s/.*/touch canary/e;s/','--to-command=touch canary', '-Itouch canary', 'exec:touch canary','alias.status=!touch canary', 'touch,canary',
]
const STAND: Record<string,string> = {
  ssh: 'for a; do case $a in -oProxyCommand=*) sh -c "${a#*=}" ;; esac; done; while [ "${1#-}" != "$1" ]; do case $1 in -o) sh -c "${2#ProxyCommand=}"; shift ;; esac; shift; done; shift; if [ $# = 0 ]; then exec sh; else exec sh -c "$*"; fi',
  sudo: 'while [ "${1#-}" != "$1" ]; do shift 2; done; exec "$@"',
  docker: 'while [ $# -gt 0 ]; do case $1 in run|exec|--rm|-i) shift;; --entrypoint) E=$2; shift 2;; *) shift; break;; esac; done; exec $E "$@"',
  su: 'shift; exec sh "$@"',
}
const dir = mkdtempSync(join(tmpdir(), 'att-'))
for (const [n,s] of Object.entries(STAND)) writeFileSync(join(dir,n), `#!/bin/sh\n${s}\n`, {mode:0o755})
let count = 0
const origin = (process.argv[3] ?? 'data') as 'data'
for (const [name, command] of Object.entries(cases)) {
  const cmds: string[] = []; const vals: string[] = []
  let refused = 0, why = ''
  for (const value of HOSTILE) {
    const pieces = command.split('{{v}}').flatMap((part, i) => [...(i===0?[]:[{text:value, origin, name:'v'}]), ...(part===''?[]:[{text:part, origin:'author' as const}])])
    try { cmds.push(renderCommand(pieces)); vals.push(value) } catch (e) { refused++; why = String((e as Error).message).slice(0,110) }
  }
  const hits: string[] = []
  for (const shell of ['dash','bash','busybox sh']) {
    for (const [i, c] of cmds.entries()) {
      const at = join(dir, `at-${++count}`)
      try { execFileSync('/bin/sh', ['-c', 'mkdir "$AT"; cd "$AT"; timeout 5 $SH -c "$1" </dev/null >/dev/null 2>&1; true', 'sh', c], { env: { PATH: `${dir}:${process.env['PATH']}`, HOME: at, AT: at, SH: shell } }) } catch {}
      if (existsSync(join(at,'canary'))) { hits.push(`${shell} <- ${JSON.stringify(vals[i])}`); break }
    }
  }
  console.log(hits.length ? 'BROKEN ' : refused === 0 ? 'passes ' : `ok(${refused}/${HOSTILE.length}) `, name, '::', JSON.stringify(command).slice(0,150), hits.length ? hits.join(' | ') : why)
}
