import type { Configuration } from './bridge.js'

/** Media query that matches where the user prefers dark pages. */
export const dark = '(prefers-color-scheme: dark)'

/** Languages that the chat is translated into. */
const languages = ['en', 'de', 'fr', 'es', 'ar'] as const
export type Language = (typeof languages)[number]

/** The language of a chat: the configured one, otherwise the first of the browser's that is translated, otherwise English. */
export function languageOf({ language }: Configuration): Language {
  for (const preferred of [language ?? '', ...navigator.languages]) {
    const code = preferred.toLowerCase().split('-', 1)[0]
    const found = languages.find((known) => known === code)
    if (found !== undefined) return found
  }
  return 'en'
}

/** Sets language, direction, theme and colours of an element, in ways that no Content-Security-Policy forbids. */
export function applyAppearance(element: HTMLElement, configuration: Configuration): void {
  const { color = '', themeMode, position, fontFamily, radius } = configuration
  const language = languageOf(configuration)
  element.lang = language
  element.dir = language === 'ar' ? 'rtl' : 'ltr'
  element.dataset.side = position === 'left' ? 'left' : 'right'
  const isDark = themeMode === 'dark' || (themeMode === 'system' && matchMedia(dark).matches)
  element.dataset.theme = isDark ? 'dark' : 'light'
  // Pages also write `#rgb`.
  const long = color.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3')
  const accent = /^#[\da-f]{6}$/i.test(long) ? long : '#0f5f73'
  element.style.setProperty('--accent', accent)
  element.style.setProperty('--on-accent', textOn(accent))
  if (fontFamily) element.style.setProperty('--font', `${fontFamily}, system-ui, sans-serif`)
  if (radius !== undefined) element.style.setProperty('--radius', `${radius * 4}px`)
}

/** Black or white, whichever is easier to read on a colour of the form `#rrggbb`. */
function textOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const part = Number.parseInt(color.slice(start, start + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  // Black and white have the same contrast at a luminance of 0.179.
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000' : '#fff'
}
