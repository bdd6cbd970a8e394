/** Tags as they are stored and as a bot sees them: those of an integration are named `<alias>:<name>`. */
export type Tags = Record<string, string>

/**
 * Tags of a create as they are stored. An integration uses bare names for its own tags; an empty
 * value means that there is no such tag.
 * @param alias of the integration that calls; undefined for the bot
 */
export function storedTags(alias: string | undefined, given: Tags): Tags {
  return Object.fromEntries(
    Object.entries(given)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [storedName(alias, name), value]),
  )
}

/** Tags of a filter as they are stored; an empty value stays, and matches nothing. */
export function storedFilter(alias: string | undefined, given: Tags): Tags {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [storedName(alias, name), value]),
  )
}

/** The tags that a caller may see: a bot all of them, an integration its own under bare names. */
export function visibleTags(alias: string | undefined, stored: Tags): Tags {
  if (alias === undefined) return stored
  const prefix = storedName(alias, '')
  return Object.fromEntries(
    Object.entries(stored)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length), value]),
  )
}

function storedName(alias: string | undefined, name: string): string {
  return alias === undefined ? name : `${alias}:${name}`
}
