import type { Language } from '../shared/appearance.js'
import { ar } from './ar.js'
import { de } from './de.js'
import { en, type Translation } from './en.js'
import { es } from './es.js'
import { fr } from './fr.js'

export type { Translation } from './en.js'

export const translations: Readonly<Record<Language, Translation>> = { en, de, fr, es, ar }

/** Replaces the placeholders `$` and `#` of a text. */
export function format(text: string, values: { name?: string; number?: number }): string {
  // By functions, because a name may contain `$&` or the like.
  return text.replace('$', () => values.name ?? '').replace('#', () => String(values.number ?? ''))
}
