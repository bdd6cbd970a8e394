/**
 * Whether a key belongs to an input method, with which people write Japanese, Chinese and Korean: there Enter confirms
 * characters and Escape discards them, and neither is meant for the page.
 *
 * Safari ends the composition before it tells of the key that did so. Only the old code 229 then says what the key was.
 */
export function isComposing(event: { isComposing: boolean; keyCode: number }): boolean {
  return event.isComposing || event.keyCode === 229
}
