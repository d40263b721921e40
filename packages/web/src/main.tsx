import './styles/tokens.css'
import './styles/base.css'
import './styles/shared.css'
import './ui/controls.css'
import './ui/forms/field.css'
import './ui/page.css'
import './ui/overlays/popup.css'
import './ui/lists/data-table.css'
import './ui/lists/card-table.css'
import './shell/shell.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { makeQueryClient } from './query-client.ts'
import { makeRouter } from './router.tsx'
import { applyTheme, followTheme } from './shell/theme.ts'
import { ToastRegion } from './ui/overlays/toast.tsx'

applyTheme()
followTheme()

// A browser drops what it is loading when the machine gets another network. Vite asks for a style sheet only once.
document.addEventListener(
  'error',
  ({ target: link }) => {
    if (!(link instanceof HTMLLinkElement) || 'repeated' in link.dataset) return
    link.dataset['repeated'] = ''
    link.replaceWith(link.cloneNode())
  },
  { capture: true },
)

/** To the login page, and back to where one was. */
const toLogin = () => {
  const { pathname, href } = router.state.location
  if (pathname === '/login') return
  queries.removeQueries({ queryKey: ['session'] })
  void router.navigate({ href: `/login?to=${encodeURIComponent(href)}` })
}

const queries = makeQueryClient(toLogin)
const router = makeRouter(queries)

const element = document.getElementById('root')
if (element)
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
        <ToastRegion />
      </QueryClientProvider>
    </StrictMode>,
  )
