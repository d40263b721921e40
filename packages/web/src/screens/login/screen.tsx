import './login.css'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState, type KeyboardEvent } from 'react'
import { answer, api } from '../../api/client.ts'
import { type Credentials } from '../../api/session.ts'
import {
  Fields,
  text,
  type FieldRow,
  Button,
  CopyLine,
  ErrorPanel,
  Form,
  Tabs,
  usePageTitle,
} from '../../ui/index.ts'

const CODE = /^#code=(.+)$/

/** Where the user was. Only a path of this console: never the address of another host. */
const destination = (): string => {
  const to = new URLSearchParams(window.location.search).get('to') ?? '/'
  return /^\/(?![/\\])/.test(to) && !to.startsWith('/login') ? to : '/'
}

/** The code of a login link. It leaves the address bar and the history before it is used. */
const takeCode = (): string | undefined => {
  const code = CODE.exec(window.location.hash)?.[1]
  if (code === undefined) return undefined
  window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search)
  try {
    return decodeURIComponent(code)
  } catch {
    return code
  }
}

const Help = () => (
  <details>
    <summary>How do I get a token?</summary>
    <p>On a machine with a token in SCANFARM_TOKEN, open the console logged in:</p>
    <CopyLine text="scanfarm open" label="scanfarm open" />
    <p>An administrator creates a token, or a user on the screen Access:</p>
    <CopyLine
      text="scanfarm token create NAME --role operator"
      label="scanfarm token create NAME --role operator"
    />
    <p>
      The first token of a farm is in the file admin-token of the data folder. If all tokens are lost, run
      beside the server:
    </p>
    <CopyLine
      text="scanfarm token create NAME --role admin --direct"
      label="scanfarm token create NAME --role admin --direct"
    />
  </details>
)

const TOKEN: readonly FieldRow[] = [
  [text('token', 'API token', { type: 'password', spellCheck: false, required: true })],
]

const passwordRows = (capsLock: boolean, onCapsLock: (on: boolean) => void): readonly FieldRow[] => {
  const watch = (event: KeyboardEvent) => onCapsLock(event.getModifierState('CapsLock'))
  return [
    [text('username', 'User', { autoComplete: 'username', autoCapitalize: 'none', required: true })],
    [
      text('password', 'Password', {
        type: 'password',
        autoComplete: 'current-password',
        hint: capsLock ? '▲ Caps lock is on.' : undefined,
        onKeyDown: watch,
        onKeyUp: watch,
        required: true,
      }),
    ],
  ]
}

export const LoginScreen = () => {
  usePageTitle('Log in')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [tab, setTab] = useState('password')
  const [capsLock, setCapsLock] = useState(false)
  const login = useMutation({
    mutationFn: (body: Credentials) => answer(api.POST('/session', { body })),
    onSuccess: () => {
      queries.clear()
      void navigate({ href: destination(), replace: true })
    },
  })
  const { mutate, reset } = login
  useEffect(() => {
    const enter = () => {
      const code = takeCode()
      if (code !== undefined) mutate({ code })
    }
    enter()
    window.addEventListener('hashchange', enter)
    return () => window.removeEventListener('hashchange', enter)
  }, [mutate])
  const send = (values: Readonly<Record<string, string>>) =>
    mutate(
      tab === 'token'
        ? { token: values['token']?.trim() ?? '' }
        : { username: values['username'] ?? '', password: values['password'] ?? '' },
    )
  const byLink = login.variables?.code !== undefined
  return (
    <main className="login">
      <div className="panel stack gap-16 login-card">
        <h1 className="brand">scanfarm</h1>
        {byLink && login.isPending ? (
          <p role="status">Logging in with the link…</p>
        ) : (
          <>
            <Tabs
              label="How to log in"
              value={tab}
              onChange={(next) => {
                reset()
                setTab(next)
              }}
              tabs={[
                { id: 'password', label: 'Password' },
                { id: 'token', label: 'API token' },
              ]}
            />
            <Form onSubmit={send} error={login.error}>
              <Fields key={tab} rows={tab === 'token' ? TOKEN : passwordRows(capsLock, setCapsLock)} />
              {login.error ? <ErrorPanel error={login.error} /> : null}
              <Button type="submit" kind="primary" busy={login.isPending}>
                Log in
              </Button>
            </Form>
            <Help />
          </>
        )}
      </div>
    </main>
  )
}
