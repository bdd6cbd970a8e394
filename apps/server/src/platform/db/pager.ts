import { createHmac, timingSafeEqual } from 'node:crypto'
import { InvalidPageTokenError } from './errors.js'
import type { PageRequest, Position } from './paginate.js'

/** The request for a page of a list; a page token is valid for the same request only. */
export interface PageQuery<Sort extends string> {
  /** Id of the operation. */
  readonly operation: string
  /** Id of the owner of the list, such as a workspace or a bot. */
  readonly scope: string
  /** All that narrows the list, as JSON can express it; the order of keys is of no importance. */
  readonly filter?: unknown
  /** Column that the list is sorted by; ids decide between equal values. */
  readonly sort: Sort
  readonly direction: 'asc' | 'desc'
  /** The token the client sent, if any. */
  readonly nextToken?: string | undefined
  /** Rows on the page, 1 to 100. Default 20. */
  readonly pageSize?: number | undefined
}

/** Reads and signs page tokens. */
export interface Pager {
  /** Throws {@link InvalidPageTokenError} if the token is not from this very list. */
  page<Sort extends string>(query: PageQuery<Sort>): PageRequest<Sort>
}

const defaultSize = 20
const maxSize = 100
const signatureBytes = 16

/** `key` signs the tokens: 32 random bytes, the same in all processes that share a database. */
export function createPager(key: Uint8Array): Pager {
  function sign(binding: string, position: string): Buffer {
    const mac = createHmac('sha256', key).update(`${binding}\n${position}`)
    return mac.digest().subarray(0, signatureBytes)
  }

  function seal(binding: string, position: Position): string {
    const text = JSON.stringify([position.value, position.id])
    return Buffer.concat([sign(binding, text), Buffer.from(text)]).toString('base64url')
  }

  function open(binding: string, token: string): Position {
    const bytes = Buffer.from(token, 'base64url')
    const text = bytes.subarray(signatureBytes).toString()
    const signature = bytes.subarray(0, signatureBytes)
    const genuine =
      // Decoding skips what is not base64, so that many texts would pass for one token.
      bytes.toString('base64url') === token &&
      signature.length === signatureBytes &&
      timingSafeEqual(signature, sign(binding, text))
    if (!genuine) {
      throw new InvalidPageTokenError('The page token does not belong to this list and its filters')
    }
    const [value, id]: [string | number, string] = JSON.parse(text)
    return { value, id }
  }

  return {
    page({ operation, scope, filter, sort, direction, nextToken, pageSize = defaultSize }) {
      const binding = canonical([operation, scope, filter ?? null, sort, direction])
      return {
        sort,
        direction,
        size: Math.max(1, Math.min(pageSize, maxSize)),
        // Some callers begin with the empty token of a page that does not exist.
        after: nextToken ? open(binding, nextToken) : undefined,
        tokenAfter: (position) => seal(binding, position),
      }
    },
  }
}

/** JSON with the keys of objects in order, so that equal values have equal text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
