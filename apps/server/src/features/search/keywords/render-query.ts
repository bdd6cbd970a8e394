import { isEmptyQuery, type Query } from '../query.js'

/**
 * Renders a query as the right side of FTS5's `match`: any term or phrase suffices, more rank higher.
 * Every token is quoted, so no input is read as query syntax.
 *
 * @returns undefined for an empty query; FTS5 has no expression for it
 */
export function toFts5Match(query: Query): string | undefined {
  if (isEmptyQuery(query)) return undefined
  return [...query.terms.map((term) => [term]), ...query.phrases].map(toFts5Phrase).join(' OR ')
}

/**
 * Renders a query as the argument of PostgreSQL's `to_tsquery`, for any text search configuration.
 *
 * @returns undefined for an empty query
 */
export function toTsquery(query: Query): string | undefined {
  if (isEmptyQuery(query)) return undefined
  const phrases = query.phrases.map((phrase) => `(${phrase.map(toLexeme).join(' <-> ')})`)
  return [...query.terms.map(toLexeme), ...phrases].join(' | ')
}

function toFts5Phrase(tokens: string[]): string {
  const prefix = tokens.at(-1)?.endsWith('*') === true
  return `"${tokens.map(withoutStar).join(' ')}"${prefix ? ' *' : ''}`
}

function toLexeme(token: string): string {
  return `'${withoutStar(token)}'${token.endsWith('*') ? ':*' : ''}`
}

function withoutStar(token: string): string {
  return token.endsWith('*') ? token.slice(0, -1) : token
}
