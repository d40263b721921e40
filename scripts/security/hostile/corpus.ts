/** A value that an attacker may choose; its name describes the attack. */
export interface HostileValue {
  readonly name: string
  readonly value: string
}

/** Values that leave an argument and execute the command `run`, which creates the file `path`. */
const escapes = (run: string, path: string): Record<string, string> => ({
  'a semicolon': `x; ${run}`,
  'an and list': `x && ${run}`,
  'an or list': `x || ${run}`,
  'a background list': `x & ${run} &`,
  'a pipe': `x | ${run}`,
  'a new line': `x\n${run}`,
  'carriage return and new line': `x\r\n${run}\r\n`,
  'a command substitution': `$(${run})`,
  backquotes: `\`${run}\``,
  'an end of double quotes': `"; ${run}; "`,
  'an end of single quotes': `'; ${run}; '`,
  'an end of both quotes': `'"; ${run}; "'`,
  'an escaped quote': `\\'; ${run}; \\"; ${run}; `,
  'an escaped substitution': `\\$(${run})`,
  'blanks by IFS': `;touch\${IFS}${path}`,
  'an end of a here-document': `x\nEND\n${run}\nEND\n`,
  'a redirection': `x > ${path}`,
  'a redirection without blanks': `>${path}`,
  'a process substitution': `<(${run})`,
  'an index in arithmetic': `a[$(${run})]`,
  'a default of a parameter': `\${nothing:=$(${run})}`,
  'an end of a brace': `}; ${run}; {`,
  'an end of a parenthesis': `); ${run}; (`,
  'an end of arithmetic': `1)); ${run}; ((1`,
  'an end of a case': `x) ${run};; esac; ${run}; case y in y`,
  'an assignment before a command': `A=1 ${run}`,
  'an option with a command': `-exec ${run}`,
  'a command and nothing else': run,
  'a call in a template': `{{ exec_cmd("${run}") }}`,
  'a call behind an end of a string': `"); exec_cmd("${run}"); ("`,
  'a call in a template literal': `\${exec_cmd('${run}')}`,
  'a call between additions': `' + exec_cmd('${run}') + '`,
  'a call of another language': `"); import os; os.system("${run}"); ("`,
  'a pattern of sed that executes': `x/${run.replaceAll('/', '\\/')}/e;s/`,
  'a call of awk': `"; system("${run}"); "`,
})

const ODD: Readonly<Record<string, string>> = {
  'an option': '-n',
  'a long option': '--help',
  'two hyphens': '--',
  'a glob': '*',
  'a glob over the root': '/*',
  'a class of characters': '[a-z]?*',
  'braces to expand': '{a,b}{1..3}',
  'a tilde': '~root',
  'a percent format': '%s%n%x%99999d',
  'escape sequences in words': '\\x41\\n\\t\\0101\\c',
  'a template': '{{7*7}}',
  'a template that contains itself': '{{v}}',
  'a template of a loop': '[[item]]',
  'a tag': '{% for i in "abc" %}{{i}}{% endfor %}',
  'an end of a template': '}} {{Target}} {{',
  'unicode and right-to-left': 'ünï–码😀\u202etxt.exe\u200b\u00a0\u2028',
  'an ANSI sequence': '\u001b[31mred\u001b]0;title\u0007\u001b[2J',
  'control characters': '\u0001\u0008\u007f',
  null: 'null',
  undefined: 'undefined',
  'a number that overflows': '1e999',
  'surrounding blanks': '  a  b  ',
  'a tab': 'a\tb',
  'a single quote': "'",
  'a double quote': '"',
  'a backquote': '`',
  'a backslash at the end': 'x\\',
  'a dollar': '$',
  'all parameters': '$@ $* $# $$ $! $0',
  'a comment': '# x',
  'an exclamation mark': '!! !x',
  'an assignment': 'PATH=/tmp',
  'many quotes': `'"`.repeat(300),
  'a long word': 'A'.repeat(3_000),
}

export const hostileValues = (canary: string): HostileValue[] => {
  const run = `touch ${canary} CANARY`
  return Object.entries({ ...escapes(run, canary), ...ODD }).map(([name, value]) => ({ name, value }))
}
