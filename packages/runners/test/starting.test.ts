import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createHostRunners } from '../src/index.ts'
import { ControlSession } from '../src/shell/control-session.ts'
import { sessionFunctions } from '../src/shell/session-script.ts'
import { ShellSession } from '../src/shell/shell-session.ts'
import { readProcess } from '../src/host/process-table.ts'
import { openShell } from './local-shell.ts'
import { token } from './processes.ts'

/**
 * While one program takes the place of another in a process, the kernel shows neither its words nor its environment.
 * This one makes the instant last: it hides its own, writes its pid to the
 * file ARG1, waits ARG2 seconds, shows them again, and
 * sleeps ARG3 seconds.
 */
const HIDE = String.raw`
use strict;
use warnings;
use POSIX ();
use constant { PR_SET_MM => 35, PR_SET_MM_MAP => 14 };
my ($sys_prctl, $sys_brk) = (POSIX::uname)[4] eq 'aarch64' ? (167, 214) : (157, 12);
open my $stat, '<', '/proc/self/stat' or die;
my @fields = split / /, <$stat> =~ s/.*\) //sr;
my ($code, $code_end, $stack) = @fields[23 .. 25];
my ($data, $data_end, $brk, $words, $words_end, $environment, $environment_end) = @fields[42 .. 48];
sub show {
    my $map = pack 'Q11 Q L l', $code, $code_end, $data, $data_end, $brk, syscall($sys_brk, 0), $stack,
        $words, $_[0], $environment, $_[1], 0, 0, -1;
    syscall($sys_prctl, PR_SET_MM, PR_SET_MM_MAP, $map, length $map, 0) == 0 or die "prctl: $!";
}
show($words, $environment);
open my $file, '>', "$ARGV[0].new" or die;
print $file $$;
close $file;
rename "$ARGV[0].new", $ARGV[0];
select undef, undef, undef, $ARGV[1];
show($words_end, $environment_end);
sleep $ARGV[2];
`
const HIDDEN_S = 0.4
const env = { PATH: '/usr/bin:/bin' }
const NEVER = new AbortController().signal

describe('a process in the middle of an exec', () => {
  let folder: string
  let program: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scanfarm-starting-'))
    await chmod(folder, 0o755)
    program = join(folder, 'hide.pl')
    await writeFile(program, HIDE)
  })
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  /** Starts it in a session of its own and ends when it is hidden. */
  const leave = (word: string): string[] => [
    '/bin/sh',
    '-c',
    `setsid perl ${program} ${folder}/${word} ${HIDDEN_S} ${word} </dev/null >/dev/null 2>&1 &
    while [ ! -e ${folder}/${word} ] && kill -0 $!; do sleep 0.01; done; [ -e ${folder}/${word} ]`,
  ]
  const isGone = async (word: string): Promise<boolean> =>
    readProcess(Number(await readFile(join(folder, word), 'utf8')))?.dead !== false
  const openHost = (launcher: 'perl' | 'node') => createHostRunners({ launcher })
  const openRunner = (provider: ReturnType<typeof openHost>, marker: string) =>
    provider.open(
      { type: 'host' },
      { runUuid: crypto.randomUUID(), attempt: 1, folder, marker, signal: NEVER, log: () => {} },
    )

  test('is killed when the host runner closes', async () => {
    await using provider = openHost('perl')
    const runner = await openRunner(provider, `starting-${process.pid}-close`)
    const word = token()
    const outcome = await runner.run({ argv: leave(word), env }, { signal: NEVER })
    await runner[Symbol.asyncDispose]()
    expect(outcome).toEqual({ kind: 'exited', code: 0 })
    expect(await isGone(word)).toBe(true)
  })

  test.each(['perl', 'node'] as const)('is killed by the launcher, %s', async (launcher) => {
    const provider = openHost(launcher)
    const runner = await openRunner(provider, `starting-${process.pid}-${launcher}`)
    const word = token()
    await runner.run({ argv: leave(word), env }, { signal: NEVER })
    await provider[Symbol.asyncDispose]()
    expect(await isGone(word)).toBe(true)
  })

  test('is killed when its command in a shell session ends', async () => {
    const session = new ShellSession(openShell())
    const word = token()
    const marker = `starting-${process.pid}-session#1;`
    const end = await session.run(
      { argv: leave(word), env, cwd: folder, marker },
      { started() {}, output() {} },
    )
    session.close()
    await session.gone
    expect(end).toEqual({ kind: 'ended', code: 0, oomKills: 0 })
    expect(await isGone(word)).toBe(true)
  })

  test('is killed and reported by the control session', async () => {
    const control = new ControlSession(openShell())
    const word = token()
    const marker = `starting-${process.pid}-kill#1;`
    const [shell, ...args] = leave(word)
    const child = spawn(shell ?? '', args, { env: { ...env, SCANFARM_MARKER: marker }, stdio: 'ignore' })
    expect(await once(child, 'exit')).toEqual([0, null])
    const killed = await control.kill(marker, 0, { graceMs: 0, interrupts: new Map() })
    control.close()
    await control.gone
    expect(killed).not.toEqual([])
    expect(await isGone(word)).toBe(true)
  })

  test('is not taken for one without the marker by a session whose grep cannot read environments', async () => {
    // Such a session reads character by character: the more variables, the longer the time.
    const variables = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`V${index}`, 'value']))
    const marker = `reading-${process.pid}`
    const rounds = `
      scanfarm_grep=
      round=0
      while [ $round -lt 60 ]; do
        scanfarm_newest_pid
        before=$newest
        /bin/sh -c 'setsid sleep 60 >/dev/null 2>&1 & :'
        scanfarm_find_marked ${marker} "$before"
        [ -n "$found$starting" ] || echo missed
        until [ -n "$found" ]; do scanfarm_find_marked ${marker} "$before"; done
        kill -KILL $found
        round=$((round + 1))
      done`
    const shell = spawn('/bin/sh', ['-c', `${sessionFunctions()}${rounds}`], {
      env: { ...env, ...variables, SCANFARM_MARKER: marker },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    expect(await shell.stdout.toArray()).toEqual([])
  })
})
