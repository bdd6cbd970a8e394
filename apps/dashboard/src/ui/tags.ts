/** Tags in one line: `team: office, lang: en`. */
export function describeTags(tags: Record<string, string>): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
}

/** Tags as a filter has them: `team=office, lang=en`. */
export function tagValuesOf(text: string): Record<string, string> {
  return Object.fromEntries(pairsOf(text).map(([name, value = '']) => [name, value]))
}

/** The same for filters in which a name alone means that the tag is there. */
export function tagConditionsOf(text: string): Record<string, string | { exists: boolean }> {
  return Object.fromEntries(pairsOf(text).map(([name, value]) => [name, value ?? { exists: true }]))
}

/** Names with their values; undefined for a name without `=`. */
function pairsOf(text: string): [name: string, value: string | undefined][] {
  return text
    .split(',')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [name.trim(), value.length === 0 ? undefined : value.join('=').trim()]
    })
}

/** Tags as lines of a form: `team: office`. */
export function linesOf(tags: Record<string, string>): string {
  return Object.entries(tags)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

/** Tags as typed in lines; a line without a colon is a name without a value. */
export function tagsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const [name = '', ...rest] = line.split(':')
        return [name.trim(), rest.join(':').trim()]
      }),
  )
}

/** A patch is merged by name: what is no longer in a form must be removed by name. */
export function removedOf(entries: object): Record<string, null> {
  return Object.fromEntries(Object.keys(entries).map((name) => [name, null]))
}
