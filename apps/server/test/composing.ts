import type { Locator } from 'playwright-core'

/** Runs in the page: an input method composes, and a key ends that. */
const compose = new Function(
  'element',
  '{ key, order }',
  `const options = { bubbles: true, composed: true, cancelable: true }
   const event = (name, data) => element.dispatchEvent(new CompositionEvent(name, { ...options, data }))
   const press = (rest) => element.dispatchEvent(new KeyboardEvent('keydown', { ...options, key, code: key, ...rest }))
   event('compositionstart', '')
   if (order === 'others') press({ isComposing: true })
   event('compositionend', element.value)
   if (order === 'safari') press({ keyCode: 229, which: 229 })`,
) as (element: unknown, how: { key: string; order: string }) => void

/**
 * Presses a key that an input method takes for itself. Safari ends the composition first, and then tells of the key with
 * the code 229; other browsers tell of it first.
 */
export async function pressWhileComposing(field: Locator, key: string): Promise<void> {
  for (const order of ['safari', 'others']) await field.evaluate(compose, { key, order })
}
