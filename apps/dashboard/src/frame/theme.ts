/** Colours: those of the system, or the ones that were chosen. */
export type Theme = 'system' | 'light' | 'dark'

const order: readonly Theme[] = ['system', 'light', 'dark']

export function nextTheme(theme: Theme): Theme {
  return order[(order.indexOf(theme) + 1) % order.length] ?? 'system'
}

export function setTheme(theme: Theme): void {
  document.documentElement.style.colorScheme = theme === 'system' ? 'light dark' : theme
}
