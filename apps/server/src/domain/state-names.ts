import { ApiError } from '@botstead/contract'

/** States of plugins have the alias of the plugin and `#` before their name. */
const stateName = /^(?:[a-zA-Z0-9][a-zA-Z0-9/_.-]{0,98}#)?[a-z][a-zA-Z0-9]{1,99}$/

/**
 * Throws `InvalidIdentifier` unless a state can have this name.
 * @param part where in the request the name is
 * @param field what to call it there
 */
export function requireStateName(name: string, part: 'body' | 'params', field: string): void {
  if (stateName.test(name)) return
  throw new ApiError(
    'InvalidIdentifier',
    `${part}.${field}: must be 2 to 100 letters and digits, starting with a lowercase letter; the alias of a plugin and # may precede it.`,
    { metadata: { in: part, field } },
  )
}

/** The same for the states that a definition adds; those that it has already may keep their names. */
export function requireNewStates(
  current: Record<string, unknown>,
  patch: Record<string, unknown> | undefined,
): void {
  for (const [name, state] of Object.entries(patch ?? {})) {
    if (state === null || Object.hasOwn(current, name)) continue
    requireStateName(name, 'body', `states.${name}`)
  }
}
