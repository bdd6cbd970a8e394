import { normalise, toBigrams, toIndexText, toIndexTokens, toRuns } from '@botstead/documents/text'

/**
 * A search for messages: phrases of words, all of which must occur. A word that ends with `*` stands for all words that
 * begin with it. Tokens consist of letters, digits and marks only.
 */
export type PhraseQuery = readonly (readonly string[])[]

const maxPhrases = 20
const maxPhraseLength = 32
const quoted = /"([^"]+)"|[“„]([^“”„]+)[“”]|«([^«»]+)»|「([^「」]+)」/g

/** Reads words and quoted phrases; empty if the text has no letter and no digit. */
export function toPhraseQuery(text: string): PhraseQuery {
  const normalised = normalise(text)
  const phrases: string[][] = []
  const rest = normalised.replace(quoted, (_, ...groups) => {
    const phrase = groups.slice(0, 4).find((group) => typeof group === 'string') ?? ''
    phrases.push(toPhrase(phrase))
    return ' '
  })
  for (const run of toRuns(rest)) phrases.push(toPhrase(run.text))
  return phrases.filter((phrase) => phrase.length > 0).slice(0, maxPhrases)
}

/** Tokens of a phrase as they are in the index; only the last run may go on in the text. */
function toPhrase(text: string): string[] {
  const runs = toRuns(text)
  const last = runs.at(-1)
  if (last === undefined) return []
  const pairs = last.unspaced ? toBigrams(last.text) : [last.text]
  const end = pairs.length > 0 ? pairs : [`${last.text}*`]
  return [...runs.slice(0, -1).flatMap(toIndexTokens), ...end].slice(0, maxPhraseLength)
}

/** Whether a text has all phrases, as the index would find. */
export function matchesText(text: string, query: PhraseQuery): boolean {
  const tokens = toIndexText(text).split(' ')
  return query.every((phrase) =>
    tokens.some((_, at) => phrase.every((token, offset) => isLike(tokens[at + offset], token))),
  )
}

function isLike(found: string | undefined, token: string): boolean {
  if (found === undefined) return false
  return token.endsWith('*') ? found.startsWith(token.slice(0, -1)) : found === token
}

/** A word that names a bot in the index; punctuation would divide it. */
export function scopeWord(botId: string): string {
  return `bot${botId.replaceAll('-', '')}`
}
