import { useEffect, useState } from 'react'

/** A colour of styles/tokens.css in the present theme, as a canvas takes it. */
export const colorOf = (name: string): string => {
  const probe = document.body.appendChild(document.createElement('span'))
  probe.style.color = `var(${name})`
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** The theme that is shown: what a canvas has drawn does not follow it. */
export const useTheme = (): string => {
  const [theme, setTheme] = useState(document.documentElement.dataset['theme'] ?? '')
  useEffect(() => {
    const watcher = new MutationObserver(() => setTheme(document.documentElement.dataset['theme'] ?? ''))
    watcher.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => watcher.disconnect()
  }, [])
  return theme
}
