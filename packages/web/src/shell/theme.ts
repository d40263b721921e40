export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const currentTheme = (): Theme =>
  THEMES.find((each) => each === localStorage.getItem('theme')) ?? 'system'

export const applyTheme = (theme: Theme = currentTheme()): void => {
  localStorage.setItem('theme', theme)
  const dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset['theme'] = dark ? 'dark' : 'light'
}

/** Follows the choice in other tabs and, for `system`, the setting of the machine. */
export const followTheme = (): void => {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => applyTheme())
  window.addEventListener('storage', ({ key }) => key === 'theme' && applyTheme())
}
