import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { logIn, type Credentials } from '../../api/session.ts'
import { Button, ErrorPanel, Field, Form, Tabs, usePageTitle } from '../../ui/index.ts'

const CODE = /^#code=(.+)$/

/** Where the user was. Only a path of this console: never the address of another host. */
const destination = (): string => {
  const to = new URLSearchParams(window.location.search).get('to') ?? '/'
  return /^\/(?![/\\])/.test(to) && !to.startsWith('/login') ? to : '/'
}

export const LoginScreen = () => {
  usePageTitle('Log in')
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [tab, setTab] = useState('password')
  const login = useMutation({
    mutationFn: (credentials: Credentials) => logIn(credentials),
    onSuccess: () => {
      queries.clear()
      void navigate({ href: destination(), replace: true })
    },
  })
  const { mutate } = login
  // A link that is opened while this page is open only changes the fragment.
  const hash = useRouterState({ select: ({ location }) => location.hash })
  useEffect(() => {
    const code = CODE.exec(window.location.hash)?.[1]
    if (code === undefined) return
    // The code leaves the address bar and the history before it is used.
    window.history.replaceState(window.history.state, '', window.location.pathname + window.location.search)
    mutate({ code: decodeURIComponent(code) })
  }, [mutate, hash])
  const send = (values: Readonly<Record<string, string>>) =>
    mutate(
      tab === 'token'
        ? { token: values['token'] ?? '' }
        : { username: values['username'] ?? '', password: values['password'] ?? '' },
    )
  return (
    <main className="login">
      <div className="login-card">
        <h1 className="brand-large">scanfarm</h1>
        <Tabs
          label="How to log in"
          value={tab}
          onChange={setTab}
          tabs={[
            { id: 'password', label: 'Password' },
            { id: 'token', label: 'API token' },
          ]}
        />
        <Form onSubmit={send} error={login.error}>
          {tab === 'token' ? (
            <Field name="token" label="API token" type="password" autoComplete="off" required />
          ) : (
            <>
              <Field name="username" label="User" autoComplete="username" required />
              <Field
                name="password"
                label="Password"
                type="password"
                autoComplete="current-password"
                required
              />
            </>
          )}
          {login.error ? <ErrorPanel error={login.error} /> : null}
          <Button type="submit" kind="primary" busy={login.isPending}>
            Log in
          </Button>
        </Form>
      </div>
    </main>
  )
}
